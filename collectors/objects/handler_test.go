package objects

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// object returns the metadata of an object. With finalizers it has been terminating since noon.
func object(namespace, name string, finalizers ...string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), Finalizers: finalizers}}
	if len(finalizers) > 0 {
		o.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	}
	return o
}

// observed returns an object with generations.
func observed(name string, generation, observed int64) *observedMeta {
	o := object("ns", name)
	o.Generation = generation
	return &observedMeta{newMeta(o), observed}
}

func TestObjectsHeldInDeletion(t *testing.T) {
	f := newFixture(t, Options{})
	pods := f.NewHandler("pods")
	base := "pods/*/none"
	expect(t, f, catalog.ObjectTerminating, samples{base: 0})
	expect(t, f, catalog.ObjectTerminatingOldest, samples{base: 0})
	expect(t, f, catalog.ObjectGenerationLag, samples{})

	pods.OnAdd(object("a", "fine"), true)
	pods.OnAdd(object("a", "one", "x/1"), true)
	later := object("a", "two", "x/1", "x/2")
	later.DeletionTimestamp = ptr.To(metav1.NewTime(noon.Add(time.Minute)))
	pods.OnAdd(later, true)
	pods.OnAdd(object("b", "one", "x/1"), true)
	f.pass(5 * time.Minute)
	expect(t, f, catalog.ObjectTerminating, samples{base: 0, "pods/a/x/1": 2, "pods/a/x/2": 1, "pods/b/x/1": 1})
	expect(t, f, catalog.ObjectTerminatingOldest, samples{base: 0, "pods/a/x/1": 300, "pods/a/x/2": 240, "pods/b/x/1": 300})

	// The oldest is removed, the second loses one of its finalizers, and the deletion of the third is missed.
	pods.OnDelete(object("a", "one"))
	second := later.DeepCopy()
	second.Finalizers = []string{"x/2"}
	pods.OnUpdate(later, second)
	pods.OnDelete(cache.DeletedFinalStateUnknown{Key: "b/one"})
	expect(t, f, catalog.ObjectTerminating, samples{base: 0, "pods/a/x/2": 1})
	expect(t, f, catalog.ObjectTerminatingOldest, samples{base: 0, "pods/a/x/2": 240})

	// A resync changes nothing, the last finalizer is removed, and a relist finds a new object of the same name.
	pods.OnUpdate(second, second)
	expect(t, f, catalog.ObjectTerminating, samples{base: 0, "pods/a/x/2": 1})
	third := second.DeepCopy()
	third.Finalizers = nil
	pods.OnUpdate(second, third)
	expect(t, f, catalog.ObjectTerminating, samples{base: 0, "pods/a/none": 1})
	another := object("a", "two")
	another.UID = "another"
	pods.OnUpdate(third, another)
	expect(t, f, catalog.ObjectTerminating, samples{base: 0})
	if len(pods.objects) != 0 {
		t.Errorf("%d objects are remembered", len(pods.objects))
	}
}

// A Pod in its grace period has age 0: its deletionTimestamp is the end of that period, which can be shortened.
func TestGracePeriod(t *testing.T) {
	f := newFixture(t, Options{})
	pods := f.NewHandler("pods")
	pod := object("ns", "pod")
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(noon.Add(time.Hour)))
	pods.OnUpdate(object("ns", "pod"), pod)
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/ns/none": 1})
	expect(t, f, catalog.ObjectTerminatingOldest, samples{"pods/*/none": 0, "pods/ns/none": 0})
	sooner := pod.DeepCopy()
	sooner.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	pods.OnUpdate(pod, sooner)
	f.pass(time.Minute)
	expect(t, f, catalog.ObjectTerminatingOldest, samples{"pods/*/none": 0, "pods/ns/none": 60})
}

// The finalizers of a Namespace are in its spec. A terminating Namespace is reported under its own name.
func TestTerminatingNamespace(t *testing.T) {
	f := newFixture(t, Options{})
	stuck := object("", "shop")
	stuck.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	f.NewHandler("namespaces").OnAdd(stuck, true)
	f.NewHandler("nodes").OnAdd(object("", "node", "x/1"), true)
	expect(t, f, catalog.ObjectTerminating, samples{
		"namespaces/*/none": 0, "namespaces/shop/none": 1, "nodes/*/none": 0, "nodes/*/x/1": 1,
	})
}

func TestGenerationLag(t *testing.T) {
	f := newFixture(t, Options{})
	deployments := f.deployments()
	const base, ns = "deployments.apps/*", "deployments.apps/ns"
	expect(t, f, catalog.ObjectGenerationLag, samples{base: 0})
	deployments.OnAdd(observed("fine", 7, 7), true)
	deployments.OnAdd(observed("late", 2, 1), true)
	f.pass(time.Minute)
	deployments.OnUpdate(observed("fine", 7, 7), observed("fine", 8, 7))
	f.pass(time.Minute)
	deployments.OnUpdate(observed("late", 2, 1), observed("late", 3, 1)) // its age does not change
	expect(t, f, catalog.ObjectGenerationLag, samples{base: 0, ns: 2})
	expect(t, f, catalog.ObjectGenerationLagOldest, samples{base: 0, ns: 120})

	deployments.OnUpdate(observed("late", 3, 1), observed("late", 3, 3))
	expect(t, f, catalog.ObjectGenerationLagOldest, samples{base: 0, ns: 60})

	// A deletion increments the generation, which controllers need not observe. It ends an earlier lag.
	deleted := observed("fine", 9, 7)
	deleted.rare.deletion, deleted.rare.finalizers = ptr.To(metav1.NewTime(noon)), []string{"x/1"}
	deployments.OnUpdate(observed("fine", 8, 7), deleted)
	found := observed("found", 9, 7)
	found.rare.deletion, found.rare.finalizers = deleted.rare.deletion, deleted.rare.finalizers
	deployments.OnAdd(found, true)
	expect(t, f, catalog.ObjectGenerationLag, samples{base: 0})
	expect(t, f, catalog.ObjectTerminating, samples{base + "/none": 0, ns + "/x/1": 2})

	// A new object of the same name starts at age 0.
	deployments.OnAdd(observed("late", 4, 3), false)
	f.pass(time.Minute)
	another := observed("late", 2, 0)
	another.rare.uid = "another"
	deployments.OnUpdate(observed("late", 4, 3), another)
	expect(t, f, catalog.ObjectGenerationLagOldest, samples{base: 0, ns: 0})
	deployments.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/late", Obj: another})
	expect(t, f, catalog.ObjectGenerationLag, samples{base: 0})
}

// A list from an API server that is behind the others shows an object as it was before its deletion. The object is terminating
// again when the same deletion arrives for the second time.
func TestDeletionIsSeenTwice(t *testing.T) {
	f := newFixture(t, Options{})
	deployments := f.deployments()
	const base, ns = "deployments.apps/*/none", "deployments.apps/ns/x/1"
	late, deleted := observed("late", 2, 1), observed("late", 3, 1)
	deleted.rare.deletion, deleted.rare.finalizers = ptr.To(metav1.NewTime(noon)), []string{"x/1"}
	for range 2 {
		deployments.OnUpdate(late, deleted)
		expect(t, f, catalog.ObjectTerminating, samples{base: 0, ns: 1})
		deployments.OnUpdate(deleted, late)
		expect(t, f, catalog.ObjectTerminating, samples{base: 0})
	}
}

// The time from a generation to its observation (S36) is known only if the event of that generation was received.
func TestGenerationTimes(t *testing.T) {
	f := newFixture(t, Options{})
	first, second := f.deployments(), f.deployments() // two namespaces
	const of = "deployments.apps"
	want := func(count uint64, sum float64) {
		t.Helper()
		expect(t, f, catalog.ObjectGenerationObserved, samples{of: sum})
		if n := f.observations(t, catalog.ObjectGenerationObserved); n != count {
			t.Errorf("%d observations, want %d", n, count)
		}
	}

	// These lags are not observed: they began before the first list or while only metadata was received, or were ended by
	// a deletion, another object of the same name, or an event with metadata only.
	first.OnAdd(observed("old", 2, 1), true)
	first.OnUpdate(object("ns", "metadata"), observed("metadata", 2, 1))
	first.OnUpdate(observed("old", 2, 1), observed("old", 3, 1))
	first.OnUpdate(observed("gone", 1, 1), observed("gone", 2, 1))
	first.OnUpdate(observed("other", 1, 1), observed("other", 2, 1))
	first.OnUpdate(observed("unread", 1, 1), observed("unread", 2, 1))
	f.pass(time.Minute)
	first.OnUpdate(observed("old", 3, 1), observed("old", 3, 3))
	first.OnUpdate(observed("metadata", 2, 1), observed("metadata", 2, 2))
	first.OnDelete(observed("gone", 2, 1))
	other := observed("other", 1, 1)
	other.rare.uid = "other uid"
	first.OnUpdate(observed("other", 2, 1), other)
	first.OnUpdate(observed("unread", 2, 1), object("ns", "unread"))
	expect(t, f, catalog.ObjectGenerationObserved, samples{})

	// The lags of a new object and of a change to an observed one count. Further generations do not restart them.
	first.OnAdd(observed("new", 1, 0), false)
	f.pass(2 * time.Second)
	first.OnUpdate(observed("new", 1, 0), observed("new", 1, 1))
	want(1, 2)
	second.OnUpdate(observed("old", 3, 3), observed("old", 4, 3))
	f.pass(3 * time.Second)
	second.OnUpdate(observed("old", 4, 3), observed("old", 5, 3))
	second.OnUpdate(observed("old", 5, 3), observed("old", 5, 4))
	f.pass(4 * time.Second)
	second.OnUpdate(observed("old", 5, 4), observed("old", 5, 5))
	second.OnUpdate(observed("old", 5, 5), observed("old", 5, 5))
	want(2, 9)

	// The clock is set back in the meantime.
	second.OnUpdate(observed("old", 5, 5), observed("old", 6, 5))
	f.pass(-time.Minute)
	second.OnUpdate(observed("old", 6, 5), observed("old", 6, 6))
	want(3, 9)

	// The series belong to all handlers of the resource.
	first.Close()
	want(3, 9)
	second.Close()
	expect(t, f, catalog.ObjectGenerationObserved, samples{})

	essential := newFixture(t, Options{Detail: collectors.Essential})
	d := essential.deployments()
	d.OnAdd(observed("new", 1, 0), false)
	d.OnUpdate(observed("new", 1, 0), observed("new", 1, 1))
	expect(t, essential, catalog.ObjectGenerationObserved, samples{})
}

// Objects beyond the limit of groups are reported together, until there is room again.
func TestGroupsAreLimited(t *testing.T) {
	f := newFixture(t, Options{Groups: 2})
	pods, nodes := f.NewHandler("pods"), f.NewHandler("nodes") // their groups and the group other do not count toward the limit
	for i := range 5 {
		pods.OnAdd(object(fmt.Sprint("ns-", i), "pod", "x/1"), true)
	}
	full := samples{"nodes/*/none": 0, "pods/*/none": 0, "pods/ns-0/x/1": 1, "pods/ns-1/x/1": 1, "pods/other/other": 3}
	expect(t, f, catalog.ObjectTerminating, full)
	expect(t, f, catalog.ObjectOverflow, samples{"leases": 0, "terminating": 3, "generation_lag": 0})

	pods.OnDelete(object("ns-2", "pod"))
	pods.OnDelete(object("ns-3", "pod"))
	full["pods/other/other"] = 1
	expect(t, f, catalog.ObjectTerminating, full)
	pods.OnDelete(object("ns-0", "pod")) // makes room for ns-4
	delete(full, "pods/ns-0/x/1")
	delete(full, "pods/other/other")
	full["pods/ns-4/x/1"] = 1
	expect(t, f, catalog.ObjectTerminating, full)
	pods.OnAdd(object("ns-4", "another", "x/1"), true) // in an existing group
	full["pods/ns-4/x/1"] = 2
	expect(t, f, catalog.ObjectTerminating, full)
	pods.OnAdd(object("ns-5", "pod", "x/1"), true)
	full["pods/other/other"] = 1
	expect(t, f, catalog.ObjectTerminating, full)

	// A held group does not count toward the limit, with or without objects, until it is released.
	node := object("", "late")
	node.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	nodes.OnAdd(node, true)
	full["nodes/*/none"] = 1
	expect(t, f, catalog.ObjectTerminating, full)
	pods.OnDelete(object("ns-1", "pod"))
	nodes.Close()
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/ns-4/x/1": 2, "pods/ns-5/x/1": 1})
	pods.Close()
	if n := f.terminating.share.n; n != 0 {
		t.Errorf("%d groups without objects count", n)
	}
}

// A group with objects counts toward the limit unless it is held.
func TestHeldGroupsDoNotCount(t *testing.T) {
	tally := newFixture(t, Options{}).generations
	l := labels{informerType: "pods", namespace: "ns"}
	room := func(when string, want int) {
		t.Helper()
		if tally.share.n != want {
			t.Errorf("%s: %d groups count, want %d", when, tally.share.n, want)
		}
	}
	e := tally.add(l, noon)
	room("one object", 1)
	tally.hold(l)
	room("held", 0)
	tally.release(l)
	room("released", 1)
	tally.remove(e)
	room("empty", 0)
}

// A closed handler has no series. Others of the same informer type keep theirs.
func TestClosedHandler(t *testing.T) {
	f := newFixture(t, Options{})
	one, two := f.deployments(), f.deployments()
	one.OnAdd(object("one", "d", "x/1"), true)
	one.OnAdd(observed("late", 2, 1), true)
	two.OnAdd(object("two", "d", "x/1"), true)
	one.Close()
	one.Close()
	one.OnUpdate(nil, object("one", "e", "x/1")) // a late event
	const base = "deployments.apps/*"
	expect(t, f, catalog.ObjectTerminating, samples{base + "/none": 0, "deployments.apps/two/x/1": 1})
	expect(t, f, catalog.ObjectGenerationLag, samples{base: 0})
	two.SetGenerations(false)
	expect(t, f, catalog.ObjectGenerationLag, samples{})
	two.SetGenerations(true)
	two.Close()
	two.SetGenerations(true)
	for _, m := range []catalog.Definition{catalog.ObjectTerminating, catalog.ObjectTerminatingOldest, catalog.ObjectGenerationLag, catalog.ObjectGenerationLagOldest} {
		expect(t, f, m, samples{})
	}
	if n := len(f.terminating.groups) + len(f.generations.groups); n != 0 {
		t.Errorf("%d groups remain", n)
	}
}

// Metrics of objects have the label name, and others do not.
func TestNameOfTheProgram(t *testing.T) {
	f := newFixture(t, Options{Name: "informer-exporter-1"})
	f.deployments()
	f.NewLeaseHandler(nil)
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		m, _ := catalog.ByName(family.GetName())
		for _, metric := range family.GetMetric() {
			name := ""
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == "name" {
					name = pair.GetValue()
				}
			}
			if want := map[bool]string{true: "informer-exporter-1"}[slices.Contains(m.LabelNames(), "name")]; name != want {
				t.Errorf("%s has the name %q, want %q", m.Name, name, want)
			}
		}
	}
	if m := catalog.ObjectTerminating; !slices.Contains(m.LabelNames(), "name") || len(f.take(t, m)) == 0 {
		t.Errorf("%s has no name", m.Name)
	}
}

// After any sequence of events, the counts and the oldest are those of a model.
func TestManyObjects(t *testing.T) {
	f := newFixture(t, Options{})
	pods := f.NewHandler("pods")
	there := map[string]time.Time{}
	for i := range 2000 {
		name := fmt.Sprint(i * 7919 % 300)
		if i%3 == 0 {
			pods.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/" + name})
			delete(there, name)
		} else {
			at := noon.Add(-time.Duration(i*104729%5000) * time.Second)
			o := object("ns", name, "x/1")
			o.DeletionTimestamp = ptr.To(metav1.NewTime(at))
			pods.OnAdd(o, false)
			there[name] = at
		}
		oldest := noon
		for at := range maps.Values(there) {
			if at.Before(oldest) {
				oldest = at
			}
		}
		for _, c := range f.terminating.counts(noon) {
			if c.namespace == "ns" && (c.objects != len(there) || c.oldest != noon.Sub(oldest)) {
				t.Fatalf("after %d steps: %d objects, the oldest of %v; want %d, %v", i, c.objects, c.oldest, len(there), noon.Sub(oldest))
			}
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	f := newFixture(t, Options{})
	pods, deployments, leases := f.NewHandler("pods"), f.deployments(), f.NewLeaseHandler(nil)
	overflows := func(of string, want float64) {
		t.Helper()
		if got := f.take(t, catalog.ObjectOverflow)[of]; got != want {
			t.Errorf("%v of %s beyond the limit, want %v", got, of, want)
		}
	}
	for i := range 1001 {
		if i == 500 {
			overflows("leases", 0)
		}
		if i == 1000 {
			overflows("terminating", 0)
			overflows("generation_lag", 0)
		}
		namespace := fmt.Sprint("ns-", i)
		pods.OnAdd(object(namespace, "pod", "x/1"), true)
		late := object(namespace, "late")
		late.Generation = 1
		deployments.OnAdd(&observedMeta{newMeta(late), 0}, true)
		leases.OnAdd(held(namespace, "lock", "a", noon), true)
	}
	overflows("terminating", 1)
	overflows("generation_lag", 1)
	overflows("leases", 501)
}

func TestNegativeLimits(t *testing.T) {
	for _, o := range []Options{{Leases: -1}, {Groups: -1}} {
		if _, err := New(newFixture(t, Options{}).registry, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
