package schedule

import (
	"context"
	"sync"
)

// Gate is open or closed. Work waits until it is open, and is canceled when it closes. It is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	open    context.Context    // ended: the gate is closed
	close   context.CancelFunc // ends open
	changed chan struct{}      // closed, and replaced, when the gate opens
}

// NewGate returns an open Gate.
func NewGate() *Gate {
	g := &Gate{changed: make(chan struct{})}
	g.open, g.close = context.WithCancel(context.Background())
	return g
}

// Open opens the gate until ctx ends. It has no effect if ctx has already ended.
func (g *Gate) Open(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	g.close()
	g.open, g.close = context.WithCancel(ctx)
	close(g.changed)
	g.changed = make(chan struct{})
}

// Close closes the gate.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close()
}

// IsOpen reports whether the gate is open.
func (g *Gate) IsOpen() bool {
	open, _ := g.current()
	return open.Err() == nil
}

// Wait waits until the gate is open and returns a context that ends when it closes. It reports false if ctx ends first.
func (g *Gate) Wait(ctx context.Context) (open context.Context, ok bool) {
	for ctx.Err() == nil {
		open, changed := g.current()
		if open.Err() == nil {
			return open, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil, false
}

func (g *Gate) current() (open context.Context, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open, g.changed
}
