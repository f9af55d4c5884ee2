package informers

import (
	"context"
	"errors"
	"sync"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// set holds the targets that are watched now. All its methods are safe for concurrent use.
type Set struct {
	newInformer func(Spec) (*Informer, error)

	// changing is held while targets are exchanged, which takes as long as those take to end that are no longer wanted.
	changing sync.Mutex

	mu        sync.Mutex      // held for moments, so that no scrape waits for a change
	informers []*Informer     // exchanged as a whole, never written to
	ctx       context.Context // of what runs, nil before run
	stopped   bool
	running   sync.WaitGroup
}

// newSet returns an empty set whose targets newTarget makes.
func NewSet(newTarget func(Spec) (*Informer, error)) *Set { return &Set{newInformer: newTarget} }

// list returns the targets as they are now. The slice must not be changed.
func (s *Set) List() []*Informer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.informers
}

// become makes the targets those of the given subjects, in their order. A target whose subject stays is left alone. One
// whose subject has vanished is stopped, and has left no goroutine and no series when become returns. New ones are started
// if the set runs.
func (s *Set) Replace(subjects []Spec) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	wanted := make(map[Spec]*Informer, len(subjects))
	for _, subject := range subjects {
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
	// First the old ones end: a successor with the same labels must not share their series.
	s.publish(kept)
	for _, t := range gone {
		t.cancel()
	}
	for _, t := range gone {
		t.end()
	}
	targets := make([]*Informer, 0, len(subjects))
	var errs []error // one that cannot be made does not hold back the others
	for _, subject := range subjects {
		t := wanted[subject]
		if t == nil {
			var err error
			if t, err = s.newInformer(subject); err != nil {
				errs = append(errs, err)
				continue
			}
			wanted[subject] = t
		}
		targets = append(targets, t)
	}
	s.publish(targets)
	return errors.Join(errs...)
}

// publish makes the targets what list returns, and starts those that are new if the set runs.
func (s *Set) publish(targets []*Informer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.informers = targets
	if s.ctx == nil || s.stopped {
		return
	}
	for _, t := range targets {
		if !t.started {
			t.started = true
			s.running.Go(func() { t.run(s.ctx) })
		}
	}
}

// run starts the targets. Those that become adds later are started at once, until ctx ends or stop is called.
func (s *Set) Run(ctx context.Context) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.publish(s.List())
}

// stop keeps the set from starting anything more. What runs goes on until the context of run ends.
func (s *Set) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

// wait waits until everything has ended that was started. It is called after stop.
func (s *Set) Wait() { s.running.Wait() }

// kindsOf returns the kinds of targets by Type.
func Kinds(targets []*Informer) map[string]kinds.Kind {
	kinds := make(map[string]kinds.Kind, len(targets))
	for _, t := range targets {
		kinds[t.Kind.Type()] = t.Kind
	}
	return kinds
}
