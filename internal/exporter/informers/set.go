package informers

import (
	"context"
	"errors"
	"sync"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Set holds the current informers. Its methods are safe for concurrent use.
type Set struct {
	newInformer func(Spec) (*Informer, error)

	// changing is held while informers are replaced, which includes waiting for those that stop.
	changing sync.Mutex

	mu        sync.Mutex      // held briefly: scrapes do not wait for changes
	informers []*Informer     // replaced, never modified
	ctx       context.Context // of running informers, nil before Run and after Stop
	running   sync.WaitGroup
}

// NewSet returns an empty set.
func NewSet(newTarget func(Spec) (*Informer, error)) *Set { return &Set{newInformer: newTarget} }

// List returns the current informers. The slice must not be modified.
func (s *Set) List() []*Informer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.informers
}

// Replace replaces the informers with those of the specs, in their order. Informers with an unchanged spec keep running. Removed
// ones are stopped: they send no requests when Replace returns. Their goroutines have ended and their series are deleted, unless the
// reflector sleeps in a backoff: then both happen when it wakes up, up to a minute later. New ones are started if the set is running.
// Informers that cannot be created are left out, and Replace returns their errors.
func (s *Set) Replace(specs []Spec) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	wanted := make(map[Spec]*Informer, len(specs))
	for _, subject := range specs {
		wanted[subject] = nil
	}
	var kept, gone []*Informer
	for _, t := range s.List() {
		if _, ok := wanted[t.Spec]; ok {
			wanted[t.Spec] = t
			kept = append(kept, t)
		} else {
			gone = append(gone, t)
		}
	}
	// Stop old informers first: a successor with the same labels must not share their series.
	s.publish(kept)
	for _, t := range gone {
		t.cancel()
	}
	for _, t := range gone {
		t.end()
	}
	all := make([]*Informer, 0, len(specs))
	var errs []error // one failure does not affect the others
	for _, subject := range specs {
		t := wanted[subject]
		if t == nil {
			var err error
			if t, err = s.newInformer(subject); err != nil {
				errs = append(errs, err)
				continue
			}
			wanted[subject] = t
		}
		all = append(all, t)
	}
	s.publish(all)
	return errors.Join(errs...)
}

// publish replaces the informers and starts new ones if the set is running.
func (s *Set) publish(all []*Informer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.informers = all
	ctx := s.ctx
	if ctx == nil {
		return
	}
	for _, t := range all {
		if !t.started {
			t.started = true
			s.running.Go(func() { t.run(ctx) })
		}
	}
}

// Run starts the informers. Replace then starts new ones immediately, until ctx ends or Stop is called.
func (s *Set) Run(ctx context.Context) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.publish(s.List())
}

// Stop prevents further starts. Running informers run until the context of Run ends.
func (s *Set) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = nil
}

// Wait waits until all informers have stopped. Call it after Stop.
func (s *Set) Wait() { s.running.Wait() }

// Kinds returns the kinds of informers by Type.
func Kinds(all []*Informer) map[string]kinds.Kind {
	kinds := make(map[string]kinds.Kind, len(all))
	for _, t := range all {
		kinds[t.Kind.Type()] = t.Kind
	}
	return kinds
}
