package faults

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// A connection is reset when half of an event has arrived. The partial event is not counted, the watch is resumed, and the
// event arrives once.
func TestResetInTheMiddleOfAnEvent(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.proxy.CutAfter(50_000)
	value := make([]byte, 100_000)
	if _, err := rand.Read(value); err != nil { // gzip, which Kubernetes 1.37 uses for watches, does not make it small
		t.Fatal(err)
	}
	r.createWith("large", map[string]string{"value": hex.EncodeToString(value)})
	r.expect(before, reopened.with(r.received(1)).with(changes{"watch_disconnects_total{reason=server_close}": 1}))
	r.holds()
}

// S5, S6, S14: the connection is cut for a while. The gap is reported while it lasts, the watch is resumed without a list,
// and no event is missed.
func TestCutConnection(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("attempts", func(s metricstest.Snapshot) bool { return s[refused] >= 2 })
	r.is(r.waitUntilExceeds("sync_lag_seconds", 1), "watch_connected", 0)
	r.waitUntilExceeds("consecutive_failures", 2)
	r.create("during")
	r.restore()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return reopened.with(lostConnection(changed)).with(r.received(1))
	})
	r.exceeds(before, after, "coverage_gap_seconds_sum", 1)
	r.holds()
}

// Nothing arrives, and there is no error. The connection counts as open, and missing events cannot be counted.
func TestHalfOpenConnection(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.proxy.HalfOpen()
	other := newRig(t, options{namespace: r.namespace}) // shows that the object would have arrived
	other.startSynced()
	r.create("unseen")
	other.waitFor("the object", func(s metricstest.Snapshot) bool { return s[objects] == 2 })
	silent := r.expect(before, changes{})
	r.is(silent, "watch_connected", 1)
	r.is(silent, "sync_lag_seconds", 0)
	r.restore()
	r.expect(before, r.received(1))
	r.holds()
}

// The same with freshness checks. If they share the connection, they get no response, which is reported as lag after three
// intervals. Otherwise they receive the events that the informer does not.
func TestHalfOpenConnectionWithFreshnessChecks(t *testing.T) {
	fault(t)
	checks := collectors.Checks{Freshness: time.Second}
	t.Run("of both", func(t *testing.T) {
		t.Parallel()
		newRig(t, options{checks: checks}).halfOpen(unanswered)
	})
	t.Run("of the informer", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{checks: checks})
		past, err := rest.TransportFor(stacktest.Config(t))
		if err != nil {
			t.Fatal(err)
		}
		server := strings.TrimPrefix(stacktest.Config(t).Host, "https://")
		r.gate.nextGet(0, isFreshnessCheck, func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
			req = req.Clone(req.Context())
			req.URL.Host = server
			return past.RoundTrip(req)
		})
		r.halfOpen(lagging)
	})
}

// halfOpen makes the informer's connection half-open, until freshness checks with a result have reported it as lag.
func (r *rig) halfOpen(result string) {
	r.Helper()
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.startBusy()
	before := r.waitUntilExceeds(fresh, 0)
	r.proxy.HalfOpen()
	r.create("unseen")
	r.is(r.waitUntilExceeds("sync_lag_seconds", catalog.Objectives.SyncLag.Threshold), "watch_connected", 1)
	silent := r.expectThat(before, func(changed metricstest.Snapshot) changes { return checked(changed, fresh, result) }, syncLag)
	r.exceeds(before, silent, result, 0)
	r.restore()
	r.waitFor("an answer", func(s metricstest.Snapshot) bool { return s[syncLag] == 0 })
	r.expectThat(before, func(changed metricstest.Snapshot) changes { return r.received(1).with(checked(changed, fresh, result)) })
	r.holds()
}

// HTTP/2 pings detect a half-open connection, after 45 seconds by default. This test runs alone because the intervals
// come from the environment.
func TestDeadConnectionIsFoundByPings(t *testing.T) {
	proof(t)
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "2")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "10") // so that a slow machine does not declare a live connection dead
	r := newRig(t, options{})
	before := r.startBusy()
	r.proxy.HalfOpen()
	found := r.waitFor("the dead connection is detected", isDisconnected)
	r.exceeds(nil, found, "sync_lag_seconds", 11)
	r.restore()
	after := r.expect(before, relisted("watch_failed").with(changes{
		"sync_errors_total{error_type=server}":  1,
		"watch_disconnects_total{reason=error}": 1,
	}))
	r.waitedForBackoff(before, after)
	r.exceeds(before, after, "coverage_gap_seconds_sum", 11) // since the last proof that the watch was alive: the read idle timeout and the ping timeout
	r.holds()
}
