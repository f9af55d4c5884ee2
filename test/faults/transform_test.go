package faults

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// marked are the data of objects that the Transforms of these tests act on.
var marked = map[string]string{"value": "x"}

// onMarked returns a Transform that applies act to marked objects.
func onMarked(act func(*corev1.ConfigMap) (any, error)) cache.TransformFunc {
	return func(obj any) (any, error) {
		if m := obj.(*corev1.ConfigMap); m.Data["value"] != "" {
			return act(m)
		}
		return obj, nil
	}
}

var errTransform = errors.New("the Transform fails")

// burst exceeds what the decorator reads ahead of the reflector.
const burst = 50

// transformBurst runs an informer with a Transform and a handler, and creates many objects that the Transform acts on.
func transformBurst(t *testing.T, act func(*corev1.ConfigMap) (any, error)) (r *rig, before metricstest.Snapshot) {
	t.Helper()
	r = newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.transform(onMarked(act))
	before = r.startBusy()
	for n := range burst {
		r.createWith(fmt.Sprint("marked-", n), marked)
	}
	return r, before
}

// dropped returns the changes for n events that a Transform drops.
func dropped(cause string, n float64) changes {
	return changes{
		"watch_events_total{type=added}": n, "transform_drops_total{cause=" + cause + "}": n, "events_lost_total{reason=transform}": n,
	}
}

// A Transform that returns an error drops the event: it never reaches the store or a handler, and is not pending (P2).
func TestTransformThatFails(t *testing.T) {
	fault(t)
	r, before := transformBurst(t, func(*corev1.ConfigMap) (any, error) { return nil, errTransform })
	r.is(r.expect(before, dropped("error", burst)), "handler_pending_events{handler=h}", 0)
	r.is(r.now(), "objects", float64(len(r.informer.GetStore().ListKeys())))
}

// A Transform that returns nil without an error makes client-go fail to store the event (P2).
func TestTransformThatReturnsNil(t *testing.T) {
	fault(t)
	r, before := transformBurst(t, func(*corev1.ConfigMap) (any, error) { return nil, nil })
	r.is(r.expect(before, dropped("nil", burst)), "handler_pending_events{handler=h}", 0)
	r.is(r.now(), "objects", float64(len(r.informer.GetStore().ListKeys())))
}

// A Transform that removes the resource version prevents the pairing of events: no lag is reported instead of a wrong one,
// and nothing stays pending.
func TestTransformThatStripsTheVersion(t *testing.T) {
	fault(t)
	r, before := transformBurst(t, func(m *corev1.ConfigMap) (any, error) { m.ResourceVersion = ""; return m, nil })
	after := r.expect(before, r.received(burst).with(changes{"event_lag_seconds_count": 0}))
	r.is(after, "handler_pending_events{handler=h}", 0)
}

// A Transform that changes the name: two objects of the API server become one object in the store, which is equal to
// neither (P3).
func TestTransformThatChangesTheName(t *testing.T) {
	fault(t)
	r := newRig(t, options{checks: collectors.Checks{Audit: time.Second}})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.transform(onMarked(func(m *corev1.ConfigMap) (any, error) { m.Name = "same"; return m, nil }))
	before := r.startBusy()
	r.createWith("one", marked)
	r.createWith("two", marked)
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return r.received(2).with(checked(changed, consistent, different)).with(changes{
			"objects": 1, "audit_differences{difference=missing}": 2, "audit_differences{difference=extra}": 1,
			"audit_differences{difference=key_collision}": 1, "key_collisions_total": 1,
		})
	})
}

// A Transform that fails for an object of a LIST makes the whole list fail repeatedly, although the server responds to
// each. Once it succeeds, the duration of the sync includes the failures.
func TestTransformThatFailsInAList(t *testing.T) {
	fault(t)
	const lists = prefix + "list_items_count"
	r := newRig(t, options{lists: true})
	r.createWith("bad", marked)
	var mended atomic.Bool
	r.transform(onMarked(func(m *corev1.ConfigMap) (any, error) {
		if mended.Load() {
			return m, nil
		}
		return nil, errTransform
	}))
	before := r.now()
	r.start()
	between := r.waitFor("the second list", func(s metricstest.Snapshot) bool { return s[lists] >= 2 && s[syncLag] > 0 })
	r.exceeds(nil, between, "sync_lag_seconds", 0)
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		n := changed[lists]
		return changes{
			"list_items_count": n, "list_duration_seconds_count": n, "relists_total{reason=initial}": n,
			"list_pages_total": n, "transform_drops_total{cause=error}": n,
		}
	}, syncLag) // the age of the last list, while no watch is open
	r.is(after, "synced", 0)
	mended.Store(true)
	r.tookFailuresIn(r.waitFor("synced", func(s metricstest.Snapshot) bool { return s[prefix+"synced"] == 1 && s[lastSync] > 0 }))
}

// A Transform that returns nil for one object of a list loses all of them, and the informer reports that it has synced.
func TestTransformThatReturnsNilInAList(t *testing.T) {
	fault(t)
	r := newRig(t, options{lists: true})
	r.createWith("bad", marked)
	r.create("one", "two")
	r.transform(onMarked(func(*corev1.ConfigMap) (any, error) { return nil, nil }))
	before := r.now()
	r.start()
	after := r.waitFor("synced", func(s metricstest.Snapshot) bool {
		return s[prefix+"synced"] == 1 && s[prefix+"events_lost_total{reason=list}"] > 0
	})
	r.is(after, "synced", 1)
	r.is(after, "objects", 0)
	r.is(after, "transform_drops_total{cause=nil}", 1)
	innocent := after[prefix+"list_items_sum"] - before[prefix+"list_items_sum"] - 1
	r.is(after, "events_lost_total{reason=list}", innocent)
}

// S29: a Transform that hangs holds up the events behind it. Without handlers and checks, only the lag between receiving and
// storing shows it.
func TestTransformThatBlocks(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release) // the informer waits for its Transform
	r.transform(onMarked(func(m *corev1.ConfigMap) (any, error) { <-released; return m, nil }))
	before := r.startBusy()
	r.createWith("blocks", marked)
	r.create("behind")
	lagging := r.waitFor("lag", func(s metricstest.Snapshot) bool { return s[syncLag] > 1 && s[prefix+"store_lag_seconds"] > 1 })
	r.exceeds(nil, lagging, "sync_lag_seconds", 1)
	r.exceeds(nil, lagging, "store_lag_seconds", 1)
	// A watch that ends meanwhile is opened again only afterwards.
	r.proxy.Cut()
	r.waitFor("the watch is lost", isDisconnected)
	r.restore()
	release()
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return r.received(2).with(reopened).with(lostConnection(changed))
	})
}

// S41: handlers are added and never removed.
func TestLeakedHandlers(t *testing.T) {
	fault(t)
	const leaked = 12
	r := newRig(t, options{})
	before := r.startBusy()
	for range leaked {
		r.handle("leaked", cache.ResourceEventHandlerFuncs{})
	}
	delivered := leaked * before[objects]
	r.expect(before, changes{
		"handlers": leaked, "handler_duration_seconds_count{handler=leaked}": delivered,
	})
}

// S31: a program reads the cache before the initial sync.
func TestReadsBeforeSync(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	store := r.informer.GetStore()
	before := r.now()
	if _, exists, err := store.GetByKey("default/none"); exists || err != nil {
		t.Errorf("%t, %v", exists, err)
	}
	before = r.expect(before, changes{"unsynced_reads_total": 1, "cache_misses_total": 1})
	store.List()
	r.expect(before, changes{"unsynced_reads_total": 1, "cache_lists_total{index=*}": 1})
	before = r.startBusy()
	store.List()
	r.expect(before, changes{"cache_lists_total{index=*}": 1})
}
