package collectors

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/audit"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

const (
	// freshnessWatch is how long the second watch lasts; the API server counts in whole seconds.
	freshnessWatch = time.Second
	// freshnessDeadline is how long it may take longer, before it counts as failed.
	freshnessDeadline = 5 * time.Second
	// freshnessGrace is how much later than the second watch the informer may receive a change.
	freshnessGrace = 2 * time.Second
	// freshnessFailures is for how many intervals checks must have failed before that is a lag.
	freshnessFailures = 3
)

// freshness is what the freshness checks of an informer have found. It answers from the time that the checks are made,
// and then for every scrape, how far the store is behind.
type freshness struct {
	mu sync.Mutex
	// backlog are the changes that the store was found to lack.
	backlog audit.Backlog
	// answered is when the API server last answered a check, or when the first was due.
	answered int64
	// failing tells that the last check got no answer.
	failing bool
}

// checkFreshness makes a freshness check and counts its result.
func (inf *informer) checkFreshness(ctx context.Context) {
	inf.fresh.expect(inf.obs.now())
	var result string
	inf.obs.freshnessSlots.do(ctx, func() { result = inf.freshnessResult(ctx) })
	if result == "" || ctx.Err() != nil {
		return // the informer has ended
	}
	inf.group.freshness[result].Inc()
}

// expect takes in that a first check is due.
func (f *freshness) expect(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answered == 0 {
		f.answered = now
	}
}

func (inf *informer) freshnessResult(ctx context.Context) string {
	f := &inf.fresh
	version := inf.indexer.LastStoreSyncResourceVersion()
	if inf.source.open.Load() == 0 {
		// That the watch is down is known already, and a server that does not answer need not be asked twice.
		return catalog.FreshnessSkipped
	}
	begin := inf.obs.now()
	asked, cancel := context.WithTimeout(ctx, freshnessWatch+freshnessDeadline)
	defer cancel()
	changes, err := audit.Changes(asked, inf.secondWatch, version, freshnessWatch)
	now := inf.obs.now()
	switch {
	case audit.Skipped(err):
		f.answer(now)
		return catalog.FreshnessSkipped
	case err != nil:
		inf.obs.logger.Debug("A freshness check got no answer", "informer_type", inf.id.Type(), "namespace", inf.id.Scope(), "err", err)
		f.fail()
		return catalog.FreshnessFailed
	}
	var missing audit.Backlog
	missing.Replace(changes)
	for missing.Stored(inf.indexer.LastStoreSyncResourceVersion()); missing.Len() > 0; missing.Stored(inf.indexer.LastStoreSyncResourceVersion()) {
		if inf.obs.now()-now >= int64(freshnessGrace) {
			break
		}
		if !sleep(ctx, freshnessGrace/20) {
			return ""
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered, f.failing = begin, false
	if missing.Len() == 0 {
		f.backlog = audit.Backlog{}
		return catalog.FreshnessFresh
	}
	f.backlog.Replace(changes) // those that the store has by now are taken out when somebody looks
	return catalog.FreshnessLagging
}

// secondWatch opens a watch that is not counted as the informer's own.
func (inf *informer) secondWatch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return within(ctx, func() (watch.Interface, error) { return inf.lister.WatchWithContext(ctx, options) }, watch.Interface.Stop)
}

// answer takes in that the API server has answered without saying anything about the store.
func (f *freshness) answer(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered, f.failing = now, false
}

// fail takes in that there was no answer. What the store was found to lack before, it may still lack.
func (f *freshness) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = true
}

// staleSince returns since when the store is known, or by lack of any answer must be taken, to trail the API server; 0 if
// it is not. It reads the store's version only while something is missing.
func (inf *informer) staleSince(now int64) int64 {
	if !inf.listed || inf.checks.Freshness == 0 {
		return 0
	}
	f := &inf.fresh
	f.mu.Lock()
	defer f.mu.Unlock()
	var since int64
	if f.backlog.Len() > 0 {
		f.backlog.Stored(inf.indexer.LastStoreSyncResourceVersion())
		if oldest, ok := f.backlog.Oldest(); ok {
			since = int64(oldest.Sub(inf.obs.base)) + 1
		}
	}
	if f.failing {
		// A watch that was opened is an answer too.
		answered := max(f.answered, inf.source.opened.Load())
		if now-answered >= freshnessFailures*int64(inf.checks.Freshness) && (since == 0 || answered < since) {
			since = answered
		}
	}
	return since
}
