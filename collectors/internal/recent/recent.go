// Package recent remembers something about many objects in bounded memory, by hashes of their names.
package recent

import (
	"hash/maphash"
	"sync"
)

// Max is the number of keys of a Table. A key and a small value take 40 bytes or less.
const Max = 10_000

// Table has the last value of up to Max keys. A new key beyond that replaces an arbitrary one. The zero value is empty, and all methods
// are safe for concurrent use. They do not allocate once the table has its size.
type Table[V any] struct {
	mu     sync.Mutex
	values map[uint64]V
}

var seed = maphash.MakeSeed()

// Key returns the key of a tuple of strings. It takes a few nanoseconds per string.
func Key(parts ...string) (key uint64) {
	const odd = 0x9e3779b97f4a7c15 // so that the order of the strings matters
	for _, part := range parts {
		key = (key+1)*odd ^ maphash.String(seed, part)
	}
	return key
}

// Swap stores the value of a key, and returns the previous one if it was remembered.
func (t *Table[V]) Swap(key uint64, value V) (last V, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, known = t.values[key]
	if !known && len(t.values) >= Max {
		for forgotten := range t.values {
			delete(t.values, forgotten)
			break
		}
	}
	if t.values == nil {
		t.values = map[uint64]V{}
	}
	t.values[key] = value
	return last, known
}

// Get returns the value of a key, if it is remembered.
func (t *Table[V]) Get(key uint64) (value V, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value, known = t.values[key]
	return value, known
}
