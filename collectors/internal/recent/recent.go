// Package recent remembers something about many objects in bounded memory, by hashes of their names.
package recent

import (
	"hash/maphash"
	"sync"
)

// Max is the number of keys of a Table. A key and a small value take 60 bytes or less.
const Max = 10_000

// Table has the last value of up to Max keys. A new key beyond that replaces an arbitrary one. The zero value is empty, and all methods
// are safe for concurrent use. They do not allocate once the table has its size.
type Table[V any] struct {
	mu     sync.Mutex
	values map[uint64]*V
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
	if v := t.values[key]; v != nil { // one lookup instead of two
		last, *v = *v, value
		return last, true
	}
	v := t.room()
	*v = value
	t.values[key] = v
	return last, false
}

// room returns memory for a value: a new one or, if the table is full, that of an arbitrary key, which is forgotten.
func (t *Table[V]) room() *V {
	if t.values == nil {
		t.values = map[uint64]*V{}
	}
	if len(t.values) < Max {
		return new(V)
	}
	for key, v := range t.values {
		delete(t.values, key)
		return v
	}
	return new(V)
}

// Get returns the value of a key, if it is remembered.
func (t *Table[V]) Get(key uint64) (value V, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.values[key]; v != nil {
		return *v, true
	}
	return value, false
}
