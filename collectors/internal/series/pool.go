package series

import "sync"

// Pool holds what several users with the same key share, for as long as one of them uses it: series with the same labels
// must not be reported twice, nor deleted while somebody counts in them. The zero value is ready to use, and all methods
// are safe for concurrent use.
type Pool[K comparable, V any] struct {
	mu    sync.Mutex
	items map[K]*shared[V]
}

type shared[V any] struct {
	value V
	uses  int
}

// Acquire returns what is held under key, and makes it if nothing is. Each call must be matched by one of Release. make is
// called while the Pool is locked and must not call its methods.
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

// Release gives back what Acquire returned. With the last use it calls drop, while the Pool is locked, so that a successor
// with the same key is made only after that. A key that is not held is left alone.
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

// Values returns what is held now, in no order.
func (p *Pool[K, V]) Values() []V {
	p.mu.Lock()
	defer p.mu.Unlock()
	values := make([]V, 0, len(p.items))
	for _, s := range p.items {
		values = append(values, s.value)
	}
	return values
}
