package checks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// First audits wait for the initial syncs of all informers, including one that ends before it syncs, but not forever.
func TestFirstAuditsWaitForSyncs(t *testing.T) {
	const interval = 5 * time.Minute
	for name, tc := range map[string]struct {
		finish   func(sync, end func())
		min, max time.Duration // from the first sync to the first audit
	}{
		"synced":       {func(sync, _ func()) { time.Sleep(40 * time.Second); sync() }, 40 * time.Second, 70 * time.Second},
		"ended":        {func(_, end func()) { time.Sleep(40 * time.Second); end() }, 40 * time.Second, 70 * time.Second},
		"never synced": {func(_, _ func()) {}, time.Minute, 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, _ := observertest.New(t)
				shared := checks.NewShared()
				start := func(name string, synced chan struct{}) (c *checks.Checks, end func()) {
					c = auditedOnly(core.Of(obs), shared, name, interval)
					return c, c.Start(t.Context(), synced)
				}
				first, second := make(chan struct{}), make(chan struct{})
				audited, endFirst := start("first", first)
				defer endFirst()
				_, endSecond := start("second", second)
				begun := time.Now()
				close(first)
				go tc.finish(func() { close(second) }, endSecond)
				time.Sleep(2 * time.Minute)
				at := audited.AuditStatus().At // skipped, because no watch is open
				if took := at.Sub(begun); took < tc.min || took > tc.max {
					t.Errorf("the first audit ended after %v, want %v to %v", took, tc.min, tc.max)
				}
				if name == "never synced" {
					endSecond()
				}
			})
		})
	}
}

// auditedOnly returns the checks of an informer. Its audits are skipped, because no watch is open.
func auditedOnly(obs *core.Observer, shared *checks.Shared, name string, interval time.Duration) *checks.Checks {
	return checks.New(checks.Subject{
		Observer: obs, Shared: shared, Metrics: checks.NewMetrics(obs.Metrics.Scope(name, "*")), InformerType: name,
		Intervals:  core.Checks{Audit: interval},
		Connection: stream.New(obs, stream.NewMetrics(obs.Metrics.Scope(name, "*"), name, "*")), Lister: lister{}, Store: &fakeInformer{},
	})
}

// AuditStatus().At does not vary between reads, because waiting for the next audit compares it.
func TestTimeOfAnAudit(t *testing.T) {
	t.Parallel()
	obs, _ := observertest.New(t)
	c, synced := auditedOnly(core.Of(obs), checks.NewShared(), "a", time.Second), make(chan struct{})
	close(synced)
	defer c.Start(t.Context(), synced)()
	await.True(t, "an audit", func() bool { return c.AuditStatus().Result != "" })
	times := map[time.Time]bool{}
	for range 10_000 {
		times[c.AuditStatus().At] = true
	}
	if len(times) > 10 { // an audit per second may come between
		t.Errorf("%d times", len(times))
	}
}

// lister is not called.
type lister struct {
	cache.ListerWatcherWithContext
}
