package functions

import (
	"fmt"
	"runtime"
	"sync"
)

// Places remembers where the Transform function of an informer was set.
type Places struct {
	mu sync.Mutex
	// setAt is the file and line, empty if none is set.
	setAt string
	// shared is set once it has been logged that handlers share the function.
	shared bool
}

// Replace records that a function was set or removed, and returns where the function that it replaces was set.
func (t *Places) Replace(set bool, by string) (replaced string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	replaced, t.setAt, t.shared = t.setAt, "", false
	if set {
		t.setAt = by
	}
	return replaced
}

// SharedBy returns where the function was set if several handlers share it, once for each function; otherwise an empty string.
func (t *Places) SharedBy(handlers int) (setAt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared || t.setAt == "" || handlers < 2 {
		return ""
	}
	t.shared = true
	return t.setAt
}

// Caller returns the file and line from which its caller was called.
func Caller() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", file, line)
}
