package faults

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// A relist without changes. Without a resync period, each handler is called for each object, as an update from an object to
// itself, and nothing counts as an event; with a resync period, handlers are not called before their resync is due.
func TestRelistOfUnchangedObjects(t *testing.T) {
	fault(t)
	const known = 6
	relist := relisted("expired").with(expired).with(changes{
		"watch_events_total{type=error}": 1, "unchanged_updates_total{cause=relist}": known,
	})
	five := []string{"1", "2", "3", "4", "5"} // and "busy"
	t.Run("without resync", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		r.create(five...)
		r.handle("h", cache.ResourceEventHandlerFuncs{})
		before := r.startBusy()
		r.expire()
		after := r.expect(before, relist.with(changes{"handler_duration_seconds_count{handler=h}": known}))
		if items := after[prefix+"list_items_sum"] - before[prefix+"list_items_sum"]; items != known {
			t.Errorf("%v items in the relist", items)
		}
	})
	t.Run("with resync", func(t *testing.T) {
		t.Parallel()
		const (
			often    = prefix + "handler_duration_seconds_count{handler=often}"
			resynced = prefix + "unchanged_updates_total{cause=resync}"
		)
		r := newRig(t, options{resync: time.Hour})
		r.create(five...)
		r.handle("seldom", cache.ResourceEventHandlerFuncs{})
		r.handle("often", cache.ResourceEventHandlerFuncs{}, time.Second)
		started := r.startBusy()
		r.waitFor("a resync", func(s metricstest.Snapshot) bool { return s[resynced] >= started[resynced]+known })
		before := r.settle()
		r.expire()
		r.expectThat(before, func(changed metricstest.Snapshot) changes {
			return relist.with(changes{
				"unchanged_updates_total{cause=resync}":         changed[resynced],
				"handler_duration_seconds_count{handler=often}": changed[resynced] + known,
			})
		}, lastResync)
	})
}

// An object is deleted, one is created and one is changed while the watch is down, and a relist replaces the events: the
// handler receives a DeletedFinalStateUnknown. None of the calls is for an event (S13).
func TestDeleteMissedDuringAGap(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.create("deleted", "changed")
	missed := r.handleMissed()
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("the watch is lost", isDisconnected)
	r.delete("deleted")
	r.update("changed", "new")
	r.create("created")
	r.gate.nextGet(1, isWatch, status(http.StatusGone, metav1.StatusReasonExpired, -1))
	r.restore()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return relisted("expired").with(expired).with(lostConnection(changed)).with(changes{
			"handler_duration_seconds_count{handler=h}": 4, // deleted, changed, created, and "busy"
			"unchanged_updates_total{cause=relist}":     1,
		})
	})
	r.waitedForBackoff(before, after)
	missed("deleted")
	r.holds()
}

// handleMissed adds a handler, and returns a function that fails unless its first missed delete was of an object.
func (r *rig) handleMissed() (of func(name string)) {
	r.Helper()
	keys := make(chan string, 1)
	r.handle("h", cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			keys <- missed.Key
		}
	}})
	return func(name string) {
		r.Helper()
		select {
		case key := <-keys:
			if key != r.namespace+"/"+name {
				r.Errorf("the missed delete is of %s", key)
			}
		default:
			r.Errorf("the delete of %s was not handled as a missed one", name)
		}
	}
}
