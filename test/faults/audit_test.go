package faults

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// A delete is lost although the watch is up. Only an audit detects that, once the cache is at a later version. The next
// relist repairs it.
func TestDeleteLostOnTheWay(t *testing.T) {
	fault(t)
	r := newRig(t, options{checks: collectors.Checks{Audit: time.Second}})
	r.create("deleted")
	missed := r.handleMissed()
	r.startBusy()
	before := r.waitUntilExceeds(consistent, 0)
	r.gate.stream(t).lose(`"DELETED"`)
	r.delete("deleted")
	r.create("later")
	wrong := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return r.received(1).with(checked(changed, consistent, different)).with(changes{"audit_differences{kind=extra}": 1})
	})
	r.exceeds(before, wrong, different, 1)
	r.is(wrong, "watch_connected", 1)
	r.is(wrong, "sync_lag_seconds", 0)
	r.expire()
	r.expectThat(wrong, func(changed metricstest.Snapshot) changes {
		return relisted("expired").with(expired).with(checked(changed, consistent, different, skipped)).with(changes{
			"watch_events_total{type=error}": 1,
			"audit_differences{kind=extra}":  -1, "objects": -1, "event_lag_seconds_count": 1,
			"handler_duration_seconds_count{handler=h}": 3, "unchanged_updates_total{cause=relist}": 2,
		})
	})
	missed("deleted")
	r.holds()
}
