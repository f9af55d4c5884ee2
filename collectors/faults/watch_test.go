//go:build faults

package faults

import (
	"context"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// shortened asks for shorter watches than client-go does. It stands above the decorator, which sees what is really asked
// for.
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

// The server ends each watch after the time that the client asked for. That is no disconnect and makes no list
// necessary.
func TestServerTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{above: shorter(2)})
	before := r.startSynced()
	after := r.waitFor("three watches", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_watches_total"] >= before["k8s_informer_watches_total"]+3 && s["k8s_informer_watch_connected"] == 1
	})
	ends := after["k8s_informer_watch_timeouts_total"] - before["k8s_informer_watch_timeouts_total"]
	after.Since(before, lastEvent, bookmarks, versions).Equal(t, changes{
		"watch_timeouts_total": ends, "watch_duration_seconds_count": ends, "coverage_gap_seconds_count": ends, "watches_total": ends,
	}.snapshot())
	if mean := after["k8s_informer_watch_duration_seconds_sum"] / after["k8s_informer_watch_duration_seconds_count"]; mean < 1.9 {
		t.Errorf("the watches lasted %v s on average, and were to last 2", mean)
	}
}

// Nothing but bookmarks arrives: they keep the informer up to date without an event.
func TestBookmarksOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{above: shorter(6)}) // the server sends one two seconds before the end
	before := r.startSynced()
	after := r.waitFor("a bookmark", func(s metricstest.Snapshot) bool { return s[bookmarks] > before[bookmarks] })
	after.Since(before, bookmarks, versions, lastEvent).Equal(t, metricstest.Snapshot{})
	if after["k8s_informer_resource_version{stage=received}"] < before["k8s_informer_resource_version{stage=received}"] {
		t.Errorf("after a bookmark:\n%s", after)
	}
}

// A connection is reset when half of an event has arrived. The half is not counted, the watch is resumed where it was,
// and the event arrives once.
func TestResetInTheMiddleOfAnEvent(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.proxy.CutAfter(50_000)
	r.createWith("large", map[string]string{"value": strings.Repeat("x", 200_000)})
	r.expect(before, reopened.with(changes{
		"watch_disconnects_total{reason=server_close}": 1,
		"watch_events_total{type=added}":               1, "event_lag_seconds_count": 1,
		"handler_duration_seconds_count{handler=h}": 1, "objects": 1,
	}), lastEvent, bookmarks)
	r.holds()
}

// The connection is cut for a while. The gap is known while it lasts, the watch is resumed without a relist, and nothing
// is missed.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("the lag grows", func(s metricstest.Snapshot) bool {
		return s[syncLag] > 1 && s["k8s_informer_watch_disconnects_total{reason=refused}"] >= 2 && s["k8s_informer_watch_connected"] == 0
	})
	r.create("during")
	r.restore()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		refused := changed["k8s_informer_watch_disconnects_total{reason=refused}"]
		return reopened.with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=refused}":      refused,
			"sync_errors_total{error_type=refused}":        refused,
			"watch_events_total{type=added}":               1, "objects": 1,
		})
	}, lastEvent, bookmarks)
	if gap := after["k8s_informer_coverage_gap_seconds_sum"]; gap < 1 {
		t.Errorf("the gap took %v s", gap)
	}
	r.holds()
}

// Nothing arrives any more and nobody says so. The connection counts as open; a second informer shows that something
// would have arrived.
func TestHalfOpenConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	arrived := make(chan struct{}, 2)
	direct := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(r.client.CoreV1().RESTClient(), "configmaps", r.namespace, fieldsEverything), configMap, 0, nil)
	if _, err := direct.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(_ any, initial bool) {
		if !initial {
			arrived <- struct{}{}
		}
	}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go direct.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), direct.HasSynced) {
		t.Fatal("the second informer has not synced")
	}
	r.proxy.HalfOpen()
	r.create("unseen")
	<-arrived
	r.expect(before, changes{}, bookmarks) // connected, no lag: what is not received cannot be counted
	r.restore()
	r.expect(before, changes{
		"watch_events_total{type=added}": 1, "event_lag_seconds_count": 1,
		"handler_duration_seconds_count{handler=h}": 1, "objects": 1,
	}, lastEvent, bookmarks)
}

// HTTP/2 pings find a half-open connection in the end, after 45 seconds by default. Not parallel: their times come from
// the environment.
func TestDeadConnectionIsFoundByPings(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "2")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "2")
	r := newRig(t, options{})
	before := r.startBusy()
	r.proxy.HalfOpen()
	r.waitFor("the connection is found dead", func(s metricstest.Snapshot) bool { return s["k8s_informer_watch_connected"] == 0 })
	r.restore()
	r.expect(before, relisted("watch_failed").with(changes{
		"watch_events_total{type=error}": 1, "sync_errors_total{error_type=server}": 1,
		"watch_disconnects_total{reason=error}": 1,
	}), lastEvent, lastSync, bookmarks)
	r.holds()
}

// A watch that ends at once and without an event is a failure for client-go, which lists again.
func TestVeryShortWatches(t *testing.T) {
	t.Parallel()
	const times = 2
	r := newRig(t, options{lists: true})
	r.gate.nextGet(times, isWatch, ended)
	before := r.now()
	r.start()
	r.expect(before, firstState.with(changes{
		"list_duration_seconds_count": 1 + times, "list_pages_total": 1 + times, "list_items_count": 1 + times,
		"sync_duration_seconds_count{result=success}": 1 + times,
		"relists_total{reason=watch_failed}":          times,
		"watches_total":                               1 + times,
		"watch_duration_seconds_count":                times,
		"coverage_gap_seconds_count":                  times,
		"watch_disconnects_total{reason=very_short}":  times,
	}), lastEvent, lastSync, bookmarks)
}

// What arrives is no event. client-go reports an error on the stream and lists again.
func TestGarbageOnTheStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	before := r.startBusy()
	r.gate.stream(t).send(t, "<html>504 from a proxy</html>\n")
	r.expect(before, relisted("decode").with(changes{
		"watch_events_total{type=error}": 1, "sync_errors_total{error_type=decode}": 1,
		"watch_disconnects_total{reason=error}": 1,
	}), lastEvent, lastSync, bookmarks)
	r.holds()
}

// A watch asks for a version that the server no longer has: 410 Gone, as the answer and as an event, which is how
// kube-apiserver does it.
func TestExpiredVersion(t *testing.T) {
	t.Parallel()
	expired := changes{"watch_disconnects_total{reason=expired}": 1, "sync_errors_total{error_type=expired}": 1}
	t.Run("at the start", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(1, isWatch, status(http.StatusGone, metav1.StatusReasonExpired, -1))
		r.gate.stream(t).end()
		r.expect(before, relisted("expired").with(expired).with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
		}), lastEvent, lastSync, bookmarks)
		r.holds()
	})
	t.Run("inside the stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.stream(t).send(t, errorEvent(http.StatusGone, metav1.StatusReasonExpired))
		r.expect(before, relisted("expired").with(expired).with(changes{"watch_events_total{type=error}": 1}), lastEvent, lastSync, bookmarks)
		r.holds()
	})
}

// 429 Too Many Requests for a watch. With Retry-After, client-go's REST client waits and asks again, up to ten times,
// and nobody learns of it; without, and after the tenth time, the informer waits and resumes the watch without a list.
func TestThrottledWatch(t *testing.T) {
	t.Parallel()
	t.Run("with Retry-After", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(2, isWatch, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1))
		r.gate.stream(t).end()
		after := r.expect(before, reopened.with(changes{"watch_disconnects_total{reason=server_close}": 1}), lastEvent, bookmarks)
		if gap := after["k8s_informer_coverage_gap_seconds_sum"]; gap < 2 {
			t.Errorf("the gap took %v s, with two waits of a second", gap)
		}
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.nextGet(2, isWatch, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, -1))
		r.gate.stream(t).end()
		r.expect(before, reopened.with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=throttled}":    2,
			"sync_errors_total{error_type=throttled}":      2,
		}), lastEvent, bookmarks)
	})
	t.Run("inside the stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		before := r.startBusy()
		r.gate.stream(t).send(t, errorEvent(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests))
		r.expect(before, reopened.with(changes{
			"watch_disconnects_total{reason=throttled}": 1, "sync_errors_total{error_type=throttled}": 1,
			"watch_events_total{type=error}": 1,
		}), lastEvent, bookmarks)
	})
}
