package series

import "sync"

// Pool shares values between users with the same key, for as long as one of them uses the value: series with the same labels
// must not be reported twice, nor deleted while they are in use. The zero value is ready to use. All methods are safe for
// concurrent use.
type Pool[K comparable, V any] struct {
	mu    sync.Mutex
	items map[K]*shared[V]
}

type shared[V any] struct {
	value V
	uses  int
}

// Acquire returns the value of key, and creates it with make if there is none. Each call must be matched by a Release. make
// is called with the Pool locked and must not call its methods.
func (p *Pool[K, V]) Acquire(key K, make func() V) V {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.items[key]
	if s == nil {
		s = &shared[V]{value: make()}
		if p.items == nil {
			p.items = map[K]*shared[V]{}
		}
		p.items[key] = s
	}
	s.uses++
	return s.value
}

// Release ends one use of the value of key. After the last use it calls drop with the Pool locked, so that a new value is
// created only after that. A key without a value is ignored.
func (p *Pool[K, V]) Release(key K, drop func(V)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.items[key]
	if s == nil {
		return
	}
	if s.uses--; s.uses == 0 {
		delete(p.items, key)
		drop(s.value)
	}
}

// Values returns all values, in no particular order.
func (p *Pool[K, V]) Values() []V {
	p.mu.Lock()
	defer p.mu.Unlock()
	values := make([]V, 0, len(p.items))
	for _, s := range p.items {
		values = append(values, s.value)
	}
	return values
}
