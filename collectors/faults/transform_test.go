//go:build faults

package faults

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// transformed runs an informer with a Transform that acts on objects whose data has a value, and a handler.
func transformed(t *testing.T, act func(*corev1.ConfigMap) (any, error)) (r *rig, before metricstest.Snapshot) {
	t.Helper()
	r = newRig(t, options{})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	if err := r.informer.SetTransform(func(obj any) (any, error) {
		if m := obj.(*corev1.ConfigMap); m.Data["value"] != "" {
			return act(m)
		}
		return obj, nil
	}); err != nil {
		t.Fatal(err)
	}
	return r, r.startBusy()
}

var errTransform = errors.New("the Transform fails")

// burst is more than the decorator reads ahead of the reflector.
const burst = 50

// A Transform that returns an error drops the event: it never reaches the store or a handler, and nothing waits for it.
func TestTransformThatFails(t *testing.T) {
	t.Parallel()
	r, before := transformed(t, func(*corev1.ConfigMap) (any, error) { return nil, errTransform })
	for n := range burst {
		r.createWith(fmt.Sprint("dropped-", n), map[string]string{"value": "x"})
	}
	r.expect(before, changes{
		"watch_events_total{type=added}": burst, "transform_drops_total{cause=error}": burst, "events_lost_total{reason=transform}": burst,
	}, lastEvent, bookmarks)
	if n := len(r.informer.GetStore().ListKeys()); n != 1 {
		t.Errorf("the store has %d objects", n)
	}
}

// A Transform that returns nil without an error makes client-go fail to store the event.
func TestTransformThatReturnsNil(t *testing.T) {
	t.Parallel()
	r, before := transformed(t, func(*corev1.ConfigMap) (any, error) { return nil, nil })
	r.createWith("dropped", map[string]string{"value": "x"})
	r.expect(before, changes{
		"watch_events_total{type=added}": 1, "transform_drops_total{cause=nil}": 1, "events_lost_total{reason=transform}": 1,
	}, lastEvent, bookmarks)
}

// A Transform that strips the resourceVersion leaves nothing to pair events with: there is no lag rather than a wrong
// one, and nothing waits for ever.
func TestTransformThatStripsTheVersion(t *testing.T) {
	t.Parallel()
	r, before := transformed(t, func(m *corev1.ConfigMap) (any, error) { m.ResourceVersion = ""; return m, nil })
	for n := range burst {
		r.createWith(fmt.Sprint("stripped-", n), map[string]string{"value": "x"})
	}
	r.expect(before, changes{
		"watch_events_total{type=added}": burst, "objects": burst, "handler_duration_seconds_count{handler=h}": burst,
	}, lastEvent, bookmarks)
}

// A Transform that changes the name: two objects of the API server become one of the store.
func TestTransformThatChangesTheName(t *testing.T) {
	t.Parallel()
	r, before := transformed(t, func(m *corev1.ConfigMap) (any, error) { m.Name = "same"; return m, nil })
	r.createWith("one", map[string]string{"value": "x"})
	r.createWith("two", map[string]string{"value": "x"})
	r.expect(before, changes{
		"watch_events_total{type=added}": 2, "objects": 1, "event_lag_seconds_count": 2,
		"handler_duration_seconds_count{handler=h}": 2,
	}, lastEvent, bookmarks)
}

// A Transform that fails for an object of a LIST makes the whole list fail, again and again, although the server has
// answered each.
func TestTransformThatFailsInAList(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{lists: true})
	r.createWith("bad", map[string]string{"value": "x"})
	if err := r.informer.SetTransform(func(any) (any, error) { return nil, errTransform }); err != nil {
		t.Fatal(err)
	}
	before := r.now()
	r.start()
	const lists = "k8s_informer_list_items_count"
	r.waitFor("the second list", func(s metricstest.Snapshot) bool { return s[lists] >= 2 })
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		n := changed[lists]
		return changes{
			"list_items_count": n, "list_duration_seconds_count": n, "relists_total{reason=initial}": n,
			"list_pages_total": n, "transform_drops_total{cause=error}": n,
		}
	}, lastEvent)
}
