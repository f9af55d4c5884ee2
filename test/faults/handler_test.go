package faults

import (
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// handleBlocking adds a handler that does not return from the event of an object before it is released. The end of the test
// releases it, because the informer waits for its handlers.
func (r *rig) handleBlocking(name, object string) (registration cache.ResourceEventHandlerRegistration, entered chan struct{}, release func()) {
	r.Helper()
	entered, released := make(chan struct{}), make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	r.Cleanup(release)
	return r.handle(name, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == object {
			close(entered)
			<-released
		}
	}}), entered, release
}

// S5, S15, S18, S39: a handler that does not return is visible before it returns, and does not delay the others.
func TestBlockedHandler(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	_, _, release := r.handleBlocking("blocked", "blocks")
	r.handle("other", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.create("blocks", "waits")
	all := r.received(2)
	pending := r.expect(before, all.with(changes{
		"handler_pending_events{handler=blocked}": 2,
		"event_lag_seconds_count":                 2, "handler_duration_seconds_count{handler=blocked}": 0,
	}), syncLag)
	r.waitUntilExceeds("sync_lag_seconds", pending[syncLag]+1)
	release()
	after := r.expect(before, all)
	r.exceeds(before, after, "event_lag_seconds_sum", 2) // two events waited for more than a second
}

// A handler is removed while it is busy. Its series and its pending events are removed immediately; the event in progress
// is still counted when it returns (S19).
func TestHandlerRemovedWhileBusy(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	registration, entered, release := r.handleBlocking("removed", "blocks")
	r.handle("other", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.create("blocks", "waits")
	<-entered
	const pending = prefix + "handler_pending_events{handler=removed}"
	r.waitFor("both events", func(s metricstest.Snapshot) bool { return s[pending] == 2 })
	r.remove("removed", registration)
	// The series of the removed handler are deleted.
	had := before[prefix+"handler_duration_seconds_count{handler=removed}"]
	want := r.received(2).with(changes{
		"handlers": -1, "events_lost_total{reason=stop}": 1, "handler_duration_seconds_count{handler=removed}": -had,
	})
	after := r.expect(before, want)
	for series := range after {
		if strings.Contains(series, "handler=removed") {
			t.Errorf("%s still exists", series)
		}
	}
	release()
	r.expect(before, want.with(changes{"event_lag_seconds_count": 3}))
}

// A handler that is added late receives every object from the store. These are no events.
func TestLateHandler(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.create("listed")
	before := r.startBusy()
	r.handle("late", cache.ResourceEventHandlerFuncs{})
	after := r.expect(before, r.listed(2).with(changes{"handlers": 1}))
	r.create("later")
	r.expect(after, r.received(1))
}
