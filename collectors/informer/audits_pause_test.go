package informer_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// holdLists delays the lists of audits on demand, like a slow server.
type holdLists struct {
	hold    atomic.Bool
	seen    atomic.Int64 // number of lists
	held    atomic.Int64 // number of delayed lists
	release chan struct{}
}

func (h *holdLists) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if query, err := url.ParseQuery(r.URL.RawQuery); err == nil && query.Get("resourceVersionMatch") == "Exact" {
			h.seen.Add(1)
			if h.hold.Load() {
				h.held.Add(1)
				select {
				case <-r.Context().Done():
				case <-h.release:
				}
			}
		}
		return next.RoundTrip(r)
	})
}

// While audits are paused, no request is sent and no differences are reported, not even 0. Resumed audits begin as after a
// start.
func TestPauseAudits(t *testing.T) {
	t.Parallel()
	var labels sync.Map
	slow := &holdLists{release: make(chan struct{})}
	config := rest.CopyConfig(stacktest.Config(t))
	config.Wrap(slow.wrap)
	c := newChecked(t, configs{stacktest.Config(t), config, config}, collectors.Checks{Audit: 100 * time.Millisecond, Freshness: 100 * time.Millisecond}, byLabel(&labels))
	status := func() informer.AuditStatus { return informer.Statuses(c.obs)[0].LastAudit }
	auditsOf := func(s metricstest.Snapshot) metricstest.Snapshot {
		found := metricstest.Snapshot{}
		for series, value := range s {
			if strings.HasPrefix(series, auditsPrefix) && !strings.Contains(series, "_sum") {
				found[series] = value
			}
		}
		return found
	}

	// Paused from the start, like a replica that is not the leader.
	informer.PauseAudits(c.obs)
	c.create("object")
	c.run()
	c.waitFor("several freshness checks", func(s metricstest.Snapshot) bool { return s[freshCount] >= 3 })
	none := metricstest.Snapshot{
		consistentCount: 0, differentCount: 0, "k8s_informer_audits_total{result=skipped}": 0, "k8s_informer_audits_total{result=error}": 0,
		"k8s_informer_audit_duration_seconds_count": 0,
	}
	auditsOf(metricstest.Take(t, c.registry)).Equal(t, none)
	if got := status(); !got.Paused || got.Result != "" || got.Interval == 0 || slow.seen.Load() != 0 {
		t.Errorf("paused: %+v, %d requests", got, slow.seen.Load())
	}

	// Leadership is acquired with a damaged cache.
	labels.Store("object", "changed")
	elected, lost := context.WithCancel(t.Context())
	defer lost()
	informer.ResumeAudits(elected, c.obs)
	c.waitFor("confirmed differences", func(s metricstest.Snapshot) bool { return differencesOf(s)["index"] > 0 })
	if got := status(); got.Paused || got.Result != "different" {
		t.Errorf("resumed: %+v", got)
	}

	// Leadership is lost during an audit: earlier results are cleared, and the audit in progress is dropped.
	slow.hold.Store(true)
	c.waitFor("an audit that is under way", func(metricstest.Snapshot) bool { return slow.held.Load() > 0 })
	before := c.waitFor("two equal scrapes", func(metricstest.Snapshot) bool { return true })
	lost()
	paused := c.waitFor("differences are no longer reported", func(s metricstest.Snapshot) bool { return len(differencesOf(s)) == 0 })
	slow.hold.Store(false)
	close(slow.release)
	seen := slow.seen.Load()
	after := c.waitFor("several freshness checks", func(s metricstest.Snapshot) bool { return s[freshCount] >= paused[freshCount]+3 })
	want := auditsOf(before)
	for series := range want {
		if strings.HasPrefix(series, "k8s_informer_audit_differences") {
			delete(want, series)
		}
	}
	auditsOf(after).Equal(t, want)
	if got := status(); !got.Paused || got.Result != "" || !got.At.IsZero() || got.Differences != 0 {
		t.Errorf("paused again: %+v", got)
	}
	if n := slow.seen.Load(); n != seen {
		t.Errorf("%d requests of audits while they were paused", n-seen)
	}

	// Leadership is acquired again: a difference is reported when two audits have found it. The context of the earlier
	// term has no effect.
	informer.ResumeAudits(t.Context(), c.obs)
	informer.ResumeAudits(elected, c.obs)
	if status().Paused {
		t.Error("paused by a context that had ended already")
	}
	again := c.waitFor("confirmed differences", func(s metricstest.Snapshot) bool { return differencesOf(s)["index"] > 0 })
	if n := again[differentCount] - after[differentCount]; n < 2 {
		t.Errorf("confirmed after %v audits", n)
	}
	labels.Delete("object")
	c.waitFor("no differences", func(s metricstest.Snapshot) bool { return maps.Equal(differencesOf(s), nothing) })
	c.stop()
}
