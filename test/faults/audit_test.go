package faults

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// An event is lost although the watch is up. Only an audit detects that, once the cache is at a later version. The next
// relist repairs it (S11).
func TestDeleteLostOnTheWay(t *testing.T) {
	fault(t)
	t.Run("a delete", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{checks: collectors.Checks{Audit: time.Second}})
		r.create("deleted")
		missed := r.handleMissed()
		r.startBusy()
		before := r.waitUntilExceeds(consistent, 0)
		r.gate.stream(t).lose(`"DELETED"`)
		r.delete("deleted")
		r.create("later")
		wrong := r.expectThat(before, func(changed metricstest.Snapshot) changes {
			return r.received(1).with(checked(changed, consistent, different)).with(changes{"audit_differences{difference=extra}": 1})
		})
		r.exceeds(before, wrong, different, 1)
		r.is(wrong, "watch_connected", 1)
		r.is(wrong, "sync_lag_seconds", 0)
		r.expire()
		r.expectThat(wrong, func(changed metricstest.Snapshot) changes {
			return relisted("expired").with(expired).with(checked(changed, consistent, different, skipped)).with(changes{
				"watch_events_total{type=error}":      1,
				"audit_differences{difference=extra}": -1, "objects": -1,
				"handler_duration_seconds_count{handler=h}": 3, "unchanged_updates_total{cause=relist}": 2,
			})
		})
		missed("deleted")
		r.holds()
	})
	// The join of list and watch (S13).
	t.Run("the first event after a list", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{lists: true, checks: collectors.Checks{Audit: time.Second}})
		r.handle("h", cache.ResourceEventHandlerFuncs{})
		r.gate.nextGet(1, isWatch, r.gate.losing(`"name":"between"`, func() { r.create("between") }))
		r.startSynced()
		before := r.waitUntilExceeds(consistent, 0)
		r.create("later")
		wrong := r.expectThat(before, func(changed metricstest.Snapshot) changes {
			return r.received(1).with(checked(changed, consistent, different)).with(changes{"audit_differences{difference=missing}": 1})
		})
		r.exceeds(before, wrong, different, 1)
		r.is(wrong, "watch_connected", 1)
		r.is(wrong, "sync_lag_seconds", 0)
		r.expire()
		r.waitFor("the relist", func(s metricstest.Snapshot) bool {
			return s[objects] == 2 && s[prefix+"audit_differences{difference=missing}"] == 0 && isConnected(s)
		})
		r.holds()
	})
}
