package collectors

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// PauseAudits ends the audits of all informers of the Observer until ResumeAudits, also of informers that are made
// meanwhile. It is for programs with several replicas of which only the leader acts on what it has cached, or is to load
// the API server with audits:
//
//	obs.PauseAudits() // right after New
//	...
//	OnStartedLeading: func(ctx context.Context) { obs.ResumeAudits(ctx); run(ctx) },
//
// An audit that is under way is dropped and not counted. What audits have found is forgotten: while they are paused there
// is no k8s_informer_audit_differences, because nobody knows any more whether the cache differs, and
// k8s_informer_audits_total stands still. The other checks go on.
//
// It does not wait for an audit to end. It may be called again, and from several goroutines.
func (o *Observer) PauseAudits() { o.auditing.shut() }

// ResumeAudits lets audits be made until ctx ends, which pauses them again. That is how client-go ends the context that it
// gives to OnStartedLeading. A context that has ended already changes nothing; otherwise the last call counts.
//
// Each informer's first audit is due within the next 30 seconds, and is made when it has its turn. Everything is as after
// a start: differences are reported once a second audit has found them, and key collisions that were there before the
// pause count again.
func (o *Observer) ResumeAudits(ctx context.Context) { o.auditing.open(ctx) }

// auditUnlessPaused makes audits until ctx ends, in turns that last until they are paused.
func (inf *informer) auditUnlessPaused(ctx context.Context, synced cache.DoneChecker) {
	for {
		allowed, ok := inf.obs.auditing.wait(ctx)
		if !ok {
			return
		}
		turn, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(allowed, cancel)
		var confirming bool
		inf.every(turn, inf.checks.Audit, synced, func() time.Duration { return inf.checkAudit(turn, &confirming) })
		stop()
		cancel()
		inf.audits.forget()
	}
}

// forget makes the next audit the first one.
func (a *audits) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last, a.confirmed, a.result, a.ended = nil, nil, "", 0
}

// gate is open or shut. Those that want to pass wait until it is open, and learn when it is not any more.
type gate struct {
	mu     sync.Mutex
	until  context.Context    // ended: the gate is shut
	end    context.CancelFunc // ends until
	opened chan struct{}      // closed, and replaced, when the gate is opened
}

// newGate returns a gate that is open.
func newGate() *gate {
	g := &gate{opened: make(chan struct{})}
	g.until, g.end = context.WithCancel(context.Background())
	return g
}

// open opens the gate until ctx ends.
func (g *gate) open(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	g.end()
	g.until, g.end = context.WithCancel(ctx)
	close(g.opened)
	g.opened = make(chan struct{})
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end()
}

func (g *gate) now() (until context.Context, opened <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until, g.opened
}

// isOpen tells whether the gate is open now.
func (g *gate) isOpen() bool {
	until, _ := g.now()
	return until.Err() == nil
}

// wait waits until the gate is open and returns a context that ends when it is shut, or false if ctx ends before.
func (g *gate) wait(ctx context.Context) (until context.Context, ok bool) {
	for ctx.Err() == nil {
		until, opened := g.now()
		if until.Err() == nil {
			return until, true
		}
		select {
		case <-opened:
		case <-ctx.Done():
		}
	}
	return nil, false
}
