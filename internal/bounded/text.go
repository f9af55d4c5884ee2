// Package bounded reads untrusted input in bounded memory: it cuts long texts, and scans JSON as a stream.
package bounded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
)

const (
	// MaxText is the length in bytes to which names and identities are cut before their hash. Kubernetes allows names of 253 bytes.
	MaxText = 253
	// hashSize is the length of the hash that follows a text that was cut.
	hashSize = 17
)

// Text returns a copy of a text. It replaces the end of a long one with a hash of all of it, so that different texts stay
// different. It changes no text that it has returned before. The copy shares no memory with the original.
func Text(text string) string {
	if len(text) <= MaxText+hashSize {
		return strings.Clone(text)
	}
	h := sha256.New()
	_, _ = h.Write([]byte(text)) // never fails
	return string(appendHash([]byte(text[:MaxText]), h))
}

// Cut is Text for a text that arrives in parts. The zero value is an empty text of at most MaxText bytes.
type Cut struct {
	// Max replaces MaxText if it is larger.
	Max int
	// JSON is set if the text has escapes, which must not be cut, and must be valid UTF-8.
	JSON bool

	kept []byte
	hash hash.Hash // of a text that is cut
}

// Reset removes the text and keeps its memory.
func (c *Cut) Reset() { c.kept, c.hash = c.kept[:0], nil }

// Add adds the next part.
func (c *Cut) Add(part []byte) {
	if c.hash == nil && len(c.kept)+len(part) <= c.max()+hashSize {
		c.kept = append(c.kept, part...)
		return
	}
	if c.hash == nil {
		c.hash = sha256.New()
		_, _ = c.hash.Write(c.kept) // never fails
		c.kept = append(c.kept, part[:min(len(part), max(0, c.max()-len(c.kept)))]...)[:c.max()]
		if c.JSON {
			begin, _, _ := bytes.Cut(c.kept, []byte{'\\'})
			c.kept = bytes.ToValidUTF8(begin, nil) // without an incomplete rune, which the decoder would replace
		}
	}
	_, _ = c.hash.Write(part) // never fails
}

// Bytes returns the text, which is valid until the next call of a method.
func (c *Cut) Bytes() []byte {
	if c.hash != nil {
		c.kept, c.hash = appendHash(c.kept, c.hash), nil
	}
	return c.kept
}

func (c *Cut) max() int { return max(c.Max, MaxText) }

// appendHash appends a hash to the beginning of a text.
func appendHash(text []byte, h hash.Hash) []byte {
	text = append(text, '#')
	return hex.AppendEncode(text, h.Sum(nil)[:(hashSize-1)/2])
}
