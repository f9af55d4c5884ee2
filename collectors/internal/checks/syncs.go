package checks

import (
	"context"
	"sync"
	"time"
)

// auditSyncWait is how long the first audit of an informer waits for the initial syncs of others. An informer that cannot sync, such
// as one without permissions, must not prevent audits.
const auditSyncWait = time.Minute

// syncs are the informers of an Observer that are in their initial sync. The zero value is ready to use.
type syncs struct {
	mu sync.Mutex
	n  int
	// none is closed while no informer is in its initial sync. It is nil before the first.
	none chan struct{}
}

// begin adds an informer, and end removes it.
func (s *syncs) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n == 1 {
		s.none = make(chan struct{})
	}
}

func (s *syncs) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n--; s.n == 0 {
		close(s.none)
	}
}

// wait waits until no informer is in its initial sync, limit has passed, or ctx has ended. begin must have been called before.
func (s *syncs) wait(ctx context.Context, limit time.Duration) {
	s.mu.Lock()
	none := s.none
	s.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-ctx.Done():
	}
}
