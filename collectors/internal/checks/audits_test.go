package checks_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A list without an end, with pages that are just fast enough, does not keep an audit running: it fails after ten minutes
// (S11).
func TestEndlessSlowAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Hour
		obs, _ := observertest.New(t)
		pages := &slowPages{begun: make(chan time.Time, 1)}
		c := startAudits(t, core.Of(obs), checks.NewShared(), "a", interval, pages)
		begun := <-pages.begun
		for c.AuditStatus().Result == "" && time.Since(begun) < interval {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if s := c.AuditStatus(); s.Result != checks.AuditError || s.At.Sub(begun) > 11*time.Minute {
			t.Errorf("result %q %v after the start of the list, want %q after ten minutes", s.Result, time.Since(begun), checks.AuditError)
		}
		if n := pages.n.Load(); n < 2 {
			t.Errorf("%d pages, want more than one", n)
		}
	})
}

// startAudits starts the audits of an informer with an empty store, until the test ends.
func startAudits(t *testing.T, obs *core.Observer, shared *checks.Shared, name string, interval time.Duration, lister cache.ListerWatcherWithContext) *checks.Checks {
	t.Helper()
	return start(t, checks.Subject{
		Observer: obs, Shared: shared, InformerType: name, WatchNamespace: "*",
		Intervals: core.Checks{Audit: interval}, Lister: lister, Store: emptyStore{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)},
	})
}

// start starts the checks of an informer with an open watch, until the test ends.
func start(t *testing.T, s checks.Subject) *checks.Checks {
	t.Helper()
	scope := s.Observer.Metrics.Scope(s.InformerType, s.WatchNamespace)
	s.Metrics, s.Connection = checks.NewMetrics(scope), stream.New(s.Observer, stream.NewMetrics(scope, s.InformerType, s.WatchNamespace))
	own, err := s.Connection.Decorate(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return watch.NewRaceFreeFake(), nil
	}}).WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	c, synced := checks.New(s), make(chan struct{})
	close(synced)
	t.Cleanup(c.Start(context.Background(), synced))
	return c
}

// Audits of several informers run one after the other, so that a program sends one list at a time.
func TestOneAuditAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		shared, pages := checks.NewShared(), &countedPages{lasts: 20 * time.Second}
		var all []*checks.Checks
		for n := range 5 {
			all = append(all, startAudits(t, core.Of(obs), shared, fmt.Sprint("kind-", n), 5*time.Minute, pages))
		}
		time.Sleep(time.Hour)
		if most := pages.most.Load(); most != 1 {
			t.Errorf("%d lists at a time", most)
		}
		for n, c := range all {
			if s := c.AuditStatus(); s.Result != checks.AuditConsistent || time.Since(s.At) > 10*time.Minute {
				t.Errorf("informer %d: %q %v ago", n, s.Result, time.Since(s.At))
			}
		}
	})
}

// Small caches are audited five times as often, as long as that is at most ten lists a minute, and the API server answers quickly.
func TestSmallCachesAreAuditedMoreOften(t *testing.T) {
	for name, c := range map[string]struct {
		informers    int
		interval     time.Duration
		lasts        time.Duration
		least, worst int // audits of an informer in an hour
	}{
		"few":        {informers: 2, interval: 10 * time.Minute, least: 28, worst: 33},
		"many":       {informers: 50, interval: 10 * time.Minute, least: 11, worst: 14},
		"too many":   {informers: 200, interval: 10 * time.Minute, least: 5, worst: 8},
		"slow":       {informers: 2, interval: 10 * time.Minute, lasts: 2 * time.Second, least: 5, worst: 8},
		"each 2 min": {informers: 2, interval: 2 * time.Minute, least: 56, worst: 67},
		"each 10 s":  {informers: 2, interval: 10 * time.Second, least: 350, worst: 370},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, _ := observertest.New(t)
				shared, pages := checks.NewShared(), &countedPages{lasts: c.lasts}
				for n := range c.informers {
					startAudits(t, core.Of(obs), shared, fmt.Sprint("kind-", n), c.interval, pages)
				}
				time.Sleep(time.Hour)
				if n := int(pages.n.Load()); n < c.least*c.informers || n > c.worst*c.informers {
					t.Errorf("%d audits of %d informers in an hour, want %d to %d of each", n, c.informers, c.least, c.worst)
				}
			})
		})
	}
}

// A difference is confirmed by an audit soon after the one that found it; one that stays is not audited more often than others.
func TestDifferenceIsConfirmedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		var audits []time.Time
		startAudits(t, core.Of(obs), checks.NewShared(), "a", time.Hour, onePod{listed: func() { audits = append(audits, time.Now()) }})
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if len(audits) < 4 {
			t.Fatalf("audits at %v", audits)
		}
		for n := range len(audits) - 1 {
			if after := audits[n+1].Sub(audits[n]); n%2 == 0 && after > time.Minute || n%2 == 1 && after < 10*time.Minute {
				t.Errorf("audit %d was followed by another one after %v", n, after)
			}
		}
	})
}

// A cache of several pages keeps its interval.
func TestLargeCachesAreAuditedAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		pages := &countedPages{pages: 2}
		startAudits(t, core.Of(obs), checks.NewShared(), "a", 10*time.Minute, pages)
		time.Sleep(time.Hour)
		if n := pages.n.Load() / 2; n < 5 || n > 8 {
			t.Errorf("%d audits in an hour", n)
		}
	})
}

// countedPages is an API server without objects that takes some time for a page.
type countedPages struct {
	cache.ListerWatcherWithContext // not called
	running, most, n               atomic.Int64
	lasts                          time.Duration
	pages                          int64 // of a list, 1 if 0
}

func (p *countedPages) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	listed := p.n.Add(1)
	n := p.running.Add(1)
	defer p.running.Add(-1)
	for most := p.most.Load(); most < n && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	if !schedule.Sleep(ctx, p.lasts) {
		return nil, ctx.Err()
	}
	page := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	if p.pages > 0 && listed%p.pages != 0 {
		page.Continue = fmt.Sprint(listed)
	}
	return page, nil
}

// slowPages lists pages that always have a successor, each just within the timeout of a page.
type slowPages struct {
	cache.ListerWatcherWithContext // not called
	n                              atomic.Int64
	begun                          chan time.Time // receives the time of the first request
}

func (p *slowPages) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	n := p.n.Add(1)
	if n == 1 {
		p.begun <- time.Now()
	}
	page := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1", Continue: strconv.FormatInt(n, 10)}}
	select {
	case <-time.After(29 * time.Second):
		return page, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// emptyStore is a store of version 1.
type emptyStore struct{ cache.Indexer }

func (emptyStore) LastStoreSyncResourceVersion() string { return "1" }
