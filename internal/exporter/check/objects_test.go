package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers/informerstest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// find checks synced informers with the given objects in their stores. The keys are resource types.
func find(t *testing.T, stored map[string][]metav1.Object, o check.Options) check.Report {
	t.Helper()
	making := informerstest.NewFactory(t, prometheus.NewRegistry())
	var set []*informers.Informer
	var states []status.Informer
	for name, all := range stored {
		kind, _ := kinds.Known(name)
		one, err := making.New(informers.NewSpec(config.Config{}, kind, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if err := one.Shared.GetStore().Add(o); err != nil {
				t.Fatal(err)
			}
		}
		set = append(set, one)
		state := status.Informer{Kind: kind, State: status.StateSynced, Status: informer.Status{ID: one.ID(), Synced: true}}
		state.LastAudit = informer.AuditStatus{Result: informer.AuditConsistent, Interval: time.Minute}
		states = append(states, state)
	}
	return check.Find(states, set, o)
}

// problems formats each problem as "type resource namespace/name age: detail".
func problems(r check.Report) (lines []string) {
	for _, p := range r.Problems {
		lines = append(lines, fmt.Sprintf("%s %s %s/%s %v: %s", p.Type, p.Resource, p.Namespace, p.Name, p.AgeSeconds, p.Detail))
	}
	return lines
}

// object returns an object that was deleted the given time ago, or is not deleted if deleted is 0.
func object(namespace, name string, deleted time.Duration, finalizers ...string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers}}
	if deleted != 0 {
		o.DeletionTimestamp = ptr.To(metav1.NewTime(time.Now().Add(-deleted)))
	}
	return o
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Objects that have been terminating for longer than the objective are problems, with the finalizers that block them. A Namespace is
// blocked by the objects in it.
func TestTerminatingObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := 300 * time.Second
		report := find(t, map[string][]metav1.Object{
			"pods": {
				object("shop", "old", limit+time.Second), object("shop", "held", limit+2*time.Second, "a", "b"), object("shop", "young", limit),
				object("shop", "grace", -time.Second), object("pay", "fine", 0),
			},
			"namespaces": {
				object("", "shop", limit+time.Second), object("", "pay", limit+time.Second), object("", "blocked", limit+3*time.Second, "c"), object("", "new", limit),
			},
		}, check.Options{})
		compare(t, "by the objectives", problems(report), []string{
			"terminating namespaces /blocked 303: blocked by c", "terminating namespaces /pay 301: its contents are not deleted; see its status.conditions",
			"terminating namespaces /shop 301: 4 terminating objects in it",
			"terminating pods shop/held 302: blocked by a, b", "terminating pods shop/old 301: no finalizer",
		})
		if report.Objects != 9 || report.Informers != 2 || !report.Watched["pods"] || !report.Watched["namespaces"] {
			t.Errorf("%+v", report)
		}
		report = find(t, map[string][]metav1.Object{"pods": {object("shop", "a", 2*time.Second), object("shop", "b", time.Second)}}, check.Options{OlderThan: ptr.To(time.Second)})
		compare(t, "older than a second", problems(report), []string{"terminating pods shop/a 2: no finalizer"})
	})
}

// An expired Lease is a problem for a day. Leases of nodes, and Leases without times, are ignored.
func TestExpiredLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := func(namespace, name, holder string, renewed time.Duration, seconds *int32) *coordinationv1.Lease {
			l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &holder, seconds
			l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-renewed)))
			return l
		}
		quarter, allowed := ptr.To[int32](15), 5*time.Minute
		never := lease("a", "never", "x", 0, quarter)
		never.Spec.RenewTime = nil
		unheld := lease("a", "unheld", "", allowed+3*time.Second, nil)
		unheld.Spec.HolderIdentity = nil
		report := find(t, map[string][]metav1.Object{kinds.Leases: {
			lease("a", "held", "x", 10*time.Second, quarter), lease("a", "allowed", "x", allowed+15*time.Second, quarter),
			lease("a", "expired", "x", allowed+16*time.Second, quarter), lease("a", "released", "", allowed+2*time.Second, quarter), unheld,
			lease("a", "endless", "x", time.Hour, nil), never, lease("kube-node-lease", "node", "x", time.Hour, quarter),
			lease("a", "day", "x", 24*time.Hour+15*time.Second, quarter), lease("a", "removed", "x", 24*time.Hour+16*time.Second, quarter),
		}}, check.Options{})
		compare(t, "problems", problems(report), []string{
			"no_leader leases.coordination.k8s.io a/day 86400: last holder x", "no_leader leases.coordination.k8s.io a/unheld 303: released by the last holder",
			"no_leader leases.coordination.k8s.io a/released 302: released by the last holder", "no_leader leases.coordination.k8s.io a/expired 301: last holder x",
		})
		compare(t, "notes", report.Notes, []string{"Leases that expired more than 24h ago are omitted, because their programs have probably been removed: 1"})
	})
}

// observed is an object with status.observedGeneration.
type observed struct {
	*metav1.PartialObjectMetadata
	generation int64
}

func (o observed) GetObservedGeneration() int64 { return o.generation }

// An observed generation lag is a problem once the object has not changed for longer than the objective. Ages are looked up for
// a limited number of objects.
func TestGenerationLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deployment := func(name string, generation, seen int64) metav1.Object {
			o := object("shop", name, 0)
			o.Generation = generation
			return observed{o, seen}
		}
		all := map[string][]metav1.Object{"deployments.apps": {
			deployment("seen", 2, 2), deployment("old", 3, 2), deployment("young", 3, 1), deployment("gone", 3, 2), deployment("odd", 4, 2),
		}}
		compare(t, "without ages", problems(find(t, all, check.Options{})), []string{
			"generation_lag deployments.apps shop/gone 0: generation 3, observed 2", "generation_lag deployments.apps shop/odd 0: generation 4, observed 2",
			"generation_lag deployments.apps shop/old 0: generation 3, observed 2", "generation_lag deployments.apps shop/young 0: generation 3, observed 1",
		})
		changed := func(o check.Object) (time.Time, error) {
			switch o.Name {
			case "gone":
				return time.Time{}, apierrors.NewNotFound(schema.GroupResource{Resource: o.Resource}, o.Name)
			case "odd":
				return time.Time{}, errors.New("forbidden")
			case "old":
				return time.Now().Add(-301 * time.Second), nil
			}
			return time.Now().Add(-300 * time.Second), nil
		}
		compare(t, "with ages", problems(find(t, all, check.Options{Changed: changed})), []string{
			"generation_lag deployments.apps shop/old 301: generation 3, observed 2", "generation_lag deployments.apps shop/odd 0: generation 4, observed 2; age unknown: forbidden",
		})
		const limit = 200
		for _, n := range []int{limit, limit + 2} {
			var many []metav1.Object
			for i := range n {
				many = append(many, deployment(fmt.Sprint("d", i), 2, 1))
			}
			asked := 0
			report := find(t, map[string][]metav1.Object{"deployments.apps": many}, check.Options{Changed: func(check.Object) (time.Time, error) {
				asked++
				return time.Now().Add(-time.Hour), nil
			}})
			var notes []string
			if n > limit {
				notes = []string{"2 more objects with an observed generation lag were not checked"}
			}
			if compare(t, "notes", report.Notes, notes); asked != limit || len(report.Problems) != limit {
				t.Errorf("of %d objects, %d were looked up and %d are problems, want %d", n, asked, len(report.Problems), limit)
			}
		}
	})
}

// An object adds a limited text to the report, which may be JSON: any user may set megabytes of finalizers and holders.
func TestLongDetails(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "lock"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &long, LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Hour))),
	}}
	report := find(t, map[string][]metav1.Object{"pods": {object("shop", "held", time.Hour, long)}, kinds.Leases: {lease}}, check.Options{})
	if text := strings.Join(problems(report), ""); len(report.Problems) != 2 || len(text) > 2*1200 {
		t.Errorf("%d problems of %d bytes", len(report.Problems), len(text))
	}
}
