package checks

import (
	"context"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

const (
	// freshnessWatch is the timeout of the second watch; the API server counts in whole seconds.
	freshnessWatch = time.Second
	// freshnessDeadline is added to that timeout; after it, the check counts as failed.
	freshnessDeadline = 5 * time.Second
	// freshnessGrace is how much later than the second watch the informer may receive a change.
	freshnessGrace = 2 * time.Second
	// freshnessFailures is the number of failed checks in a row, and freshnessAge the number of intervals without a proof, after
	// which the informer counts as lagging.
	freshnessFailures = 2
	freshnessAge      = 3
)

// freshness is the outcome of the freshness checks of an informer, from which every scrape computes how far the store is
// behind.
type freshness struct {
	mu sync.Mutex
	// backlog are the changes that the store did not have.
	backlog audit.Backlog
	// proved is the last time at which the state of the store was verified: the start of the last check with a response, the last
	// receipt that the store has, or the initial sync. The end of a skipped check counts as well, because the API server responded.
	proved int64
	// failures is the number of checks in a row that failed.
	failures int
}

// checkFreshness runs freshness checks, when it is the informer's turn, until ctx ends.
func (c *Checks) checkFreshness(ctx context.Context) {
	c.fresh.prove(c.Observer.Now())
	r := &c.Shared.freshness
	m := r.join(c)
	defer r.leave(m)
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.turn:
		}
		result := c.freshnessResult(ctx)
		if result == "" || ctx.Err() != nil {
			return // the informer has ended
		}
		c.Metrics.freshness.Inc(result)
		r.checked(m, result)
	}
}

// prove records a time at which the state of the store was verified. It ignores times before the recorded one.
func (f *freshness) prove(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.proved = max(f.proved, at)
}

// provedAt returns the last time at which the state of the store was verified. An established watch counts, because the API
// server has responded.
func (c *Checks) provedAt() int64 {
	c.fresh.mu.Lock()
	defer c.fresh.mu.Unlock()
	return max(c.fresh.proved, c.Connection.Opened())
}

// proveByWatch records what the informer's own watch proves: once the store has the last event or bookmark, it was up to date
// when that arrived. If more followed within the grace period, it proves nothing: events of a congested connection are old
// when they arrive, and arrive without a pause.
//
// It waits for a hanging store only once, for at most storePatience.
func (c *Checks) proveByWatch() {
	if version, ok := c.version.read(context.Background(), c.Store); ok {
		stored, _ := rv.Parse(version)
		c.proveStored(stored)
	}
}

// canProve reports whether the version of the store could prove anything. It does not read the store.
func (c *Checks) canProve() bool {
	at := c.Connection.ReceivedAt()
	return c.Connection.Open() && c.Observer.Now()-at >= int64(freshnessGrace) && at > c.provedAt()
}

// proveStored is proveByWatch, given the version of the store, 0 if it is unknown.
func (c *Checks) proveStored(stored uint64) {
	at := c.Connection.ReceivedAt()
	if !c.canProve() {
		return
	}
	received := c.Connection.Received()
	if received != 0 && stored >= received && c.Connection.ReceivedAt() == at {
		c.fresh.prove(at)
	}
}

// freshnessResult runs a freshness check. It returns the empty string if ctx ended first.
func (c *Checks) freshnessResult(ctx context.Context) string {
	if !c.Connection.Open() {
		// It is already known that the watch is down; a second request to an unavailable server adds nothing.
		return FreshnessSkipped
	}
	version, ok := c.version.read(ctx, c.Store)
	switch {
	case ctx.Err() != nil:
		return ""
	case !ok: // nothing is stored, so the cache becomes stale
		c.logger().Debug("freshness check failed: the store does not respond")
		c.fresh.fail()
		return FreshnessError
	}
	begin := c.Observer.Now()
	bounded, cancel := context.WithTimeout(ctx, freshnessWatch+freshnessDeadline)
	defer cancel()
	changes, err := audit.Changes(bounded, c.secondWatch, version, freshnessWatch)
	end := c.Observer.Now()
	switch {
	case audit.Skipped(err):
		c.fresh.answer(end)
		return FreshnessSkipped
	case ctx.Err() != nil:
		return ""
	case err != nil:
		c.logger().Debug("freshness check failed", "err", err)
		c.fresh.fail()
		return FreshnessError
	}
	var missing audit.Backlog
	missing.Replace(changes)
	for c.removeStored(ctx, &missing); missing.Len() > 0; c.removeStored(ctx, &missing) {
		if c.Observer.Now()-end >= int64(freshnessGrace) {
			break
		}
		if !schedule.Sleep(ctx, freshnessGrace/20) {
			return ""
		}
	}
	f := &c.fresh
	f.mu.Lock()
	defer f.mu.Unlock()
	f.proved, f.failures = max(f.proved, begin), 0
	if missing.Len() == 0 {
		f.backlog = audit.Backlog{}
		c.Connection.Fresh(begin)
		return FreshnessFresh
	}
	f.backlog.Replace(changes) // the next reader removes those that the store has received since
	return FreshnessLagging
}

// removeStored removes the changes that the store has, none if the store does not respond.
func (c *Checks) removeStored(ctx context.Context, changes *audit.Backlog) {
	if version, ok := c.version.read(ctx, c.Store); ok {
		changes.Stored(version)
	}
}

// secondWatch opens a watch that does not count as the informer's own.
func (c *Checks) secondWatch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return schedule.Call(ctx, func() (watch.Interface, error) { return c.Lister.WatchWithContext(ctx, options) }, watch.Interface.Stop)
}

// answer records a response of the API server that says nothing about the store.
func (f *freshness) answer(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.proved, f.failures = max(f.proved, now), 0
}

// fail records a failed check. The backlog stays: the store may still lack these changes.
func (f *freshness) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures++
}

// StaleSince returns the time since which the store is known to be behind the API server or, if checks fail, is assumed to be;
// 0 if it is up to date. stored is the version of the store, 0 if it is unknown: a scrape must not wait for a store that hangs.
func (c *Checks) StaleSince(now int64, stored uint64) int64 {
	if c.Lister == nil || c.Intervals.Freshness == 0 {
		return 0
	}
	f := &c.fresh
	f.mu.Lock()
	failing := f.failures > 0
	f.mu.Unlock()
	if failing {
		c.proveStored(stored)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var since int64
	if f.backlog.Len() > 0 {
		f.backlog.Stored(strconv.FormatUint(stored, 10))
		if oldest, ok := f.backlog.Oldest(); ok {
			since = int64(oldest.Sub(c.Observer.Base())) + 1
		}
	}
	if f.failures >= freshnessFailures {
		proved := max(f.proved, c.Connection.Opened())
		if now-proved >= freshnessAge*int64(c.Intervals.Freshness) && (since == 0 || proved < since) {
			since = proved
		}
	}
	return since
}
