package faults

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// audited is what audits count, however many there were.
func audited(changed metricstest.Snapshot) changes {
	c := changes{}
	for _, result := range []string{"consistent", "different"} {
		n := changed[prefix+"audits_total{result="+result+"}"]
		c["audits_total{result="+result+"}"] = n
		c["audit_duration_seconds_count"] += n
	}
	return c
}

// A delete is lost although the watch is up. Nothing but an audit can know that, and it does once the cache is at a later
// version. The next full state puts it right.
func TestDeleteLostOnTheWay(t *testing.T) {
	fault(t)
	r := newRig(t, options{checks: collectors.Checks{Audit: time.Second}})
	r.create("deleted")
	missed := r.handleMissed()
	r.startBusy()
	before := r.waitUntilExceeds("audits_total{result=consistent}", 0)
	r.gate.stream(t).lose(`"DELETED"`)
	r.delete("deleted")
	r.create("later")
	wrong := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return r.received(1).with(audited(changed)).with(changes{"audit_differences{kind=extra}": 1})
	})
	r.exceeds(before, wrong, "audits_total{result=different}", 1)
	r.is(wrong, "watch_connected", 1)
	r.is(wrong, "sync_lag_seconds", 0)
	r.expire()
	r.expectThat(wrong, func(changed metricstest.Snapshot) changes {
		return relisted("expired").with(expired).with(audited(changed)).with(changes{
			"watch_events_total{type=error}": 1, "audits_total{result=skipped}": changed[prefix+"audits_total{result=skipped}"],
			"audit_differences{kind=extra}": -1, "objects": -1, "event_lag_seconds_count": 1,
			"handler_duration_seconds_count{handler=h}": 3, "unchanged_updates_total{cause=relist}": 2,
		})
	})
	missed("deleted")
	r.holds()
}
