package informers

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// Definitions in the initial list do not count as changes; every later event does.
func TestOnChange(t *testing.T) {
	changes, others := 0, 0
	handler := handlers{onChange(func() { others++ }), onChange(func() { changes++ })}
	for _, event := range []struct {
		name string
		send func()
		want int
	}{
		{"of the initial list", func() { handler.OnAdd(nil, true) }, 0},
		{"added later", func() { handler.OnAdd(nil, false) }, 1},
		{"updated", func() { handler.OnUpdate(nil, nil) }, 2},
		{"deleted", func() { handler.OnDelete(nil) }, 3},
	} {
		if event.send(); changes != event.want {
			t.Errorf("%s: %d changes, want %d", event.name, changes, event.want)
		}
		if others != changes {
			t.Errorf("%s: the handlers counted %d and %d", event.name, others, changes)
		}
	}
}

// The metrics of objects and of Leases follow each event, until the informer ends.
func TestObjectHandler(t *testing.T) {
	registry := prometheus.NewRegistry()
	collector, err := objects.New(registry, objects.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := handlers{collector.NewHandler("leases.coordination.k8s.io"), collector.NewLeaseHandler(func() time.Duration { return 0 })}
	lease := func(name string, terminating bool) *coordinationv1.Lease {
		l := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("a"), LeaseDurationSeconds: ptr.To[int32](15), LeaseTransitions: ptr.To[int32](1), RenewTime: ptr.To(metav1.NowMicro()), AcquireTime: ptr.To(metav1.NowMicro()),
			},
		}
		if terminating {
			l.DeletionTimestamp = ptr.To(metav1.Now())
		}
		return l
	}
	expect := func(what string, leases, terminating float64) {
		t.Helper()
		samples := metricstest.Gather(t, registry)
		if got := samples.Sum("k8s_lease_objects"); got != leases {
			t.Errorf("%s: %v Leases, want %v", what, got, leases)
		}
		if got := samples.Sum("k8s_object_terminating"); got != terminating {
			t.Errorf("%s: %v terminating, want %v", what, got, terminating)
		}
	}
	expect("nothing", 0, 0)
	h.OnAdd(lease("one", false), true)
	h.OnAdd(lease("two", true), false)
	expect("two", 2, 1)
	h.OnUpdate(lease("one", false), lease("one", true))
	expect("an update", 2, 2)
	h.OnUpdate(lease("three", false), lease("three", false))
	expect("an update of an unknown one", 3, 2)
	h.OnDelete(lease("two", true))
	expect("a deletion", 2, 1)
	h.close()
	expect("the end", 0, 0)
}
