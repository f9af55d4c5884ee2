package series

import (
	"strings"
	"sync"
)

// Other is the label value for all values beyond a cap.
const Other = "other"

// Cap limits how many values of an open label are in use at the same time. Each item that is measured acquires its value
// once and releases it when it ends, so that a gauge never changes its label. The zero value allows only Other.
type Cap struct {
	// Limit is the number of different values that may be in use.
	Limit int
	// Overflow, unless nil, is called for each value that Acquire replaces with Other. It must not call the Cap.
	Overflow func()

	mu   sync.Mutex
	uses map[string]int
}

// maxLength is the length in bytes to which values are truncated.
const maxLength = 256

// Valid returns value if it is a valid label value, and a similar valid string otherwise: client_golang panics on values
// that are not valid UTF-8, and a long value costs memory in every scrape.
func Valid(value string) string {
	value = strings.ToValidUTF8(value[:min(len(value), maxLength)], "\uFFFD")
	if len(value) > maxLength {
		value = strings.ToValidUTF8(value[:maxLength], "") // removes an incomplete rune at the end
	}
	return value
}

// Acquire returns Valid(value) if it is in use or below the limit, and Other otherwise. Each call must be matched by a
// Release of the returned value. It is safe for concurrent use.
func (c *Cap) Acquire(value string) string {
	value = Valid(value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if value == Other {
		return Other
	}
	if c.uses[value] == 0 && len(c.uses) >= c.Limit {
		if c.Overflow != nil {
			c.Overflow()
		}
		return Other
	}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	c.uses[value]++
	return value
}

// Release ends one use of a value that Acquire returned.
func (c *Cap) Release(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n := c.uses[value]; {
	case n > 1:
		c.uses[value] = n - 1
	case n == 1:
		delete(c.uses, value)
	}
}
