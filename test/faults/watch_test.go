package faults

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// shortened requests shorter watches than client-go does. It wraps the decorator, which sees the actual request.
type shortened struct {
	cache.ListerWatcherWithContext
	seconds int64
}

func (s shortened) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.TimeoutSeconds = &s.seconds
	return s.ListerWatcherWithContext.WatchWithContext(ctx, o)
}

func shorter(seconds int64) func(cache.ListerWatcherWithContext) cache.ListerWatcherWithContext {
	return func(lw cache.ListerWatcherWithContext) cache.ListerWatcherWithContext { return shortened{lw, seconds} }
}

// The server ends each watch after the time that the client requested. That is neither a disconnect nor a reason to
// relist (S6).
func TestServerTimeout(t *testing.T) {
	fault(t)
	const watches = prefix + "watches_total"
	r := newRig(t, options{above: shorter(2)})
	before := r.startSynced()
	r.waitFor("three watches", func(s metricstest.Snapshot) bool { return s[watches] >= before[watches]+3 })
	after := r.expectThat(before, timedOut)
	// The two seconds of a watch begin with its request, its reported duration with the response. The gap before a watch covers the
	// difference, except for the first watch.
	n, lasted := after[prefix+"watch_duration_seconds_count"], after[prefix+"watch_duration_seconds_sum"]+after[prefix+"coverage_gap_seconds_sum"]
	if least := 1.9*n - after[lastSync]; lasted < least {
		t.Errorf("%v watches and the gaps after them lasted %v s, want at least %v", n, lasted, least)
	}
}

// timedOut returns the changes for watches that end at their timeout, and for the next ones.
func timedOut(changed metricstest.Snapshot) changes {
	n := changed[prefix+"watches_total"]
	return changes{"watch_timeouts_total": n, "watch_duration_seconds_count": n, "coverage_gap_seconds_count": n, "watches_total": n}
}

// Only bookmarks arrive: they keep the informer up to date without an event.
func TestBookmarksOnly(t *testing.T) {
	fault(t)
	const received = "resource_version{stage=received}"
	r := newRig(t, options{above: shorter(6)}) // the server sends one two seconds before the end
	before := r.startSynced()
	elsewhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "elsewhere-"}}
	if _, err := r.client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), elsewhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.waitFor("a bookmark", func(s metricstest.Snapshot) bool { return s[bookmarks] > before[bookmarks] })
	after := r.expectThat(before, timedOut) // on a slow machine the watch has ended by now
	r.exceeds(before, after, "watch_events_total{type=bookmark}", 0)
	r.exceeds(before, after, "last_event_timestamp_seconds", 0)
	r.exceeds(before, after, received, 0)
}

// client-go treats a watch that ends immediately and without an event as a failure, and relists (S6).
func TestVeryShortWatches(t *testing.T) {
	fault(t)
	const (
		times     = 3
		veryShort = prefix + "watch_disconnects_total{reason=very_short}"
	)
	r := newRig(t, options{lists: true})
	before := r.startBusy()
	r.gate.nextGet(times, isWatch, ended)
	r.proxy.Reset()
	between := r.waitFor("an end", func(s metricstest.Snapshot) bool { return s[veryShort] > 0 && isDisconnected(s) && s[syncLag] > 0 })
	r.is(between, "watch_connected", 0)
	r.exceeds(nil, between, "sync_lag_seconds", 0)
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return lostConnection(changed).with(changes{
			"list_duration_seconds_count": times, "list_pages_total": times, "list_items_count": times,
			"sync_duration_seconds_count{result=success}": times,
			"relists_total{reason=watch_failed}":          times,
			"watches_total":                               1 + times,
			"watch_duration_seconds_count":                1 + times,
			"coverage_gap_seconds_count":                  1,
			"watch_disconnects_total{reason=very_short}":  times,
		})
	})
	r.waitedForBackoff(before, after)
}

// waitedForBackoff fails unless the watch was down for as long as client-go waits before it lists again, which is more
// than the objective allows.
func (r *rig) waitedForBackoff(before, after metricstest.Snapshot) {
	r.Helper()
	r.exceeds(before, after, "coverage_gap_seconds_sum", catalog.Objectives.CoverageGap.Threshold)
}

// The stream carries something other than events. client-go reports an error on the stream and relists.
func TestGarbageOnTheStream(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	before := r.startBusy()
	r.gate.stream(t).send(t, "<html>504 from a proxy</html>\n")
	after := r.expect(before, relisted("decode").with(changes{
		"watch_events_total{type=error}": 1, "sync_errors_total{error_type=decode}": 1,
		"watch_disconnects_total{reason=error}": 1,
	}))
	r.waitedForBackoff(before, after)
	r.holds()
}

// A watch requests a version that the server no longer has: 410 Gone, as the response or, like kube-apiserver, as an event (S4).
func TestExpiredVersion(t *testing.T) {
	fault(t)
	t.Run("at the start", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(1, isWatch, status(http.StatusGone, metav1.StatusReasonExpired, -1))
		r.gate.stream(t).end()
		after := r.expect(before, relisted("expired").with(expired).with(changes{"watch_disconnects_total{reason=server_close}": 1}))
		r.waitedForBackoff(before, after)
		r.holds()
	})
	t.Run("inside the stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.expire()
		after := r.expect(before, relisted("expired").with(expired).with(changes{"watch_events_total{type=error}": 1}))
		r.waitedForBackoff(before, after)
		r.holds()
	})
}

// expire ends the watch with a 410 on its stream.
func (r *rig) expire() {
	r.Helper()
	r.gate.stream(r).send(r, errorEvent(http.StatusGone, metav1.StatusReasonExpired))
}

// 429 Too Many Requests for a watch. With Retry-After, client-go's REST client retries up to ten times without
// reporting it; without, and after the tenth time, the informer waits and resumes the watch without a list.
func TestThrottledWatch(t *testing.T) {
	fault(t)
	const throttles = prefix + "watch_disconnects_total{reason=throttled}"
	throttled := func(n float64) changes {
		return changes{"watch_disconnects_total{reason=throttled}": n, "sync_errors_total{error_type=throttled}": n}
	}
	t.Run("with Retry-After", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(2, isWatch, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1))
		r.gate.stream(t).end()
		after := r.expect(before, reopened.with(changes{"watch_disconnects_total{reason=server_close}": 1}))
		r.exceeds(before, after, "coverage_gap_seconds_sum", 2) // two waits of a second
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(0, isWatch, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, -1))
		r.gate.stream(t).end()
		r.waitFor("attempts", func(s metricstest.Snapshot) bool { return s[throttles] >= 2 })
		r.is(r.waitUntilExceeds("sync_lag_seconds", 1), "watch_connected", 0)
		r.gate.open()
		r.expectThat(before, func(changed metricstest.Snapshot) changes {
			return reopened.with(throttled(changed[throttles])).with(changes{"watch_disconnects_total{reason=server_close}": 1})
		})
	})
	t.Run("inside the stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.stream(t).send(t, errorEvent(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests))
		r.expect(before, reopened.with(throttled(1)).with(changes{"watch_events_total{type=error}": 1}))
	})
}
