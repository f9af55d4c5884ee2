package checks

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

const (
	// freshnessWatch is the timeout of the second watch; the API server counts in whole seconds.
	freshnessWatch = time.Second
	// freshnessDeadline is added to that timeout; after it, the check counts as failed.
	freshnessDeadline = 5 * time.Second
	// freshnessGrace is how much later than the second watch the informer may receive a change.
	freshnessGrace = 2 * time.Second
	// freshnessFailures is the number of intervals without a response after which the informer counts as lagging.
	freshnessFailures = 3
)

// freshness is the outcome of the freshness checks of an informer, from which every scrape computes how far the store is
// behind.
type freshness struct {
	mu sync.Mutex
	// backlog are the changes that the store did not have.
	backlog audit.Backlog
	// answered is when the API server last responded to a check, or when the first check was due.
	answered int64
	// failing is set if the last check got no response.
	failing bool
}

// checkFreshness runs freshness checks until ctx ends.
func (c *Checks) checkFreshness(ctx context.Context) {
	schedule.Every(ctx, c.Intervals.Freshness, func() time.Duration {
		c.fresh.due(c.Observer.Now())
		var result string
		c.Shared.freshness.Do(ctx, func() { result = c.freshnessResult(ctx) })
		if result != "" && ctx.Err() == nil { // else the informer has ended
			c.Metrics.freshness[result].Inc()
		}
		return 0
	})
}

// due records that a check is due. Only the first call has an effect.
func (f *freshness) due(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answered == 0 {
		f.answered = now
	}
}

// freshnessResult runs a freshness check. It returns the empty string if ctx ended first.
func (c *Checks) freshnessResult(ctx context.Context) string {
	version := c.Store.LastStoreSyncResourceVersion()
	if !c.Connection.Open() {
		// It is already known that the watch is down; a second request to an unavailable server adds nothing.
		return FreshnessSkipped
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
	case err != nil:
		c.logger().Debug("freshness check failed", "err", err)
		c.fresh.fail()
		return FreshnessError
	}
	var missing audit.Backlog
	missing.Replace(changes)
	for missing.Stored(c.Store.LastStoreSyncResourceVersion()); missing.Len() > 0; missing.Stored(c.Store.LastStoreSyncResourceVersion()) {
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
	f.answered, f.failing = begin, false
	if missing.Len() == 0 {
		f.backlog = audit.Backlog{}
		return FreshnessFresh
	}
	f.backlog.Replace(changes) // the next reader removes those that the store has received since
	return FreshnessLagging
}

// secondWatch opens a watch that does not count as the informer's own.
func (c *Checks) secondWatch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return schedule.Call(ctx, func() (watch.Interface, error) { return c.Lister.WatchWithContext(ctx, options) }, watch.Interface.Stop)
}

// answer records a response of the API server that says nothing about the store.
func (f *freshness) answer(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered, f.failing = now, false
}

// fail records that there was no response. The backlog stays: the store may still lack these changes.
func (f *freshness) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = true
}

// StaleSince returns the time since which the store is known to be behind the API server or, without responses, is assumed
// to be; 0 if it is up to date. It reads the version of the store only while changes are missing.
func (c *Checks) StaleSince(now int64) int64 {
	if c.Lister == nil || c.Intervals.Freshness == 0 {
		return 0
	}
	f := &c.fresh
	f.mu.Lock()
	defer f.mu.Unlock()
	var since int64
	if f.backlog.Len() > 0 {
		f.backlog.Stored(c.Store.LastStoreSyncResourceVersion())
		if oldest, ok := f.backlog.Oldest(); ok {
			since = int64(oldest.Sub(c.Observer.Base())) + 1
		}
	}
	if f.failing {
		// An established watch is a response too.
		answered := max(f.answered, c.Connection.Opened())
		if now-answered >= freshnessFailures*int64(c.Intervals.Freshness) && (since == 0 || answered < since) {
			since = answered
		}
	}
	return since
}
