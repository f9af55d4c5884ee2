package objects

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// deletedPod returns a Pod that has been terminating since noon.
func deletedPod(namespace, name string, finalizers ...string) *metav1.PartialObjectMetadata {
	o := object(namespace, name, finalizers...)
	o.DeletionTimestamp = ptr.To(metav1.NewTime(noon))
	return o
}

// renamed returns how many different series of a metric an hour of scrapes has, with changes between the scrapes.
func renamed(t *testing.T, f *fixture, m catalog.Definition, change func(scrape int)) int {
	t.Helper()
	all := map[string]bool{}
	for scrape := range 60 * 4 {
		change(scrape)
		for labels := range f.take(t, m) {
			all[labels] = true
		}
		f.pass(15 * time.Second)
	}
	return len(all)
}

// Series of a namespace that may be new within an hour.
const newWithinAnHour = newValues + int(time.Hour/newValuesEvery)

// A tenant that renames finalizers between scrapes causes a limited number of series. Their objects are counted as other.
func TestRenamedFinalizers(t *testing.T) {
	f := newFixture(t, Options{})
	pods := f.NewHandler("pods")
	n := renamed(t, f, catalog.ObjectTerminating, func(scrape int) {
		var finalizers []string
		for i := range maxFinalizers {
			finalizers = append(finalizers, fmt.Sprintf("example.com/%d-%d", scrape, i))
		}
		pods.OnAdd(deletedPod("tenant", "a", finalizers...), false)
	})
	if most := newWithinAnHour + 2; n < newValues || n > most { // with other, and none of all namespaces
		t.Errorf("%d series, want at most %d", n, most)
	}
	got := f.take(t, catalog.ObjectTerminating)
	if sum := got["pods/other/other"]; sum < maxFinalizers-1 || sum > maxFinalizers {
		t.Errorf("other has %v of %d: %v", sum, maxFinalizers, got)
	}
	if f.take(t, catalog.ObjectOverflow)["terminating"] == 0 {
		t.Error("the overflow is not counted")
	}
	f.pass(2 * knownFor) // the allowance recovers
	if got := f.take(t, catalog.ObjectTerminating); got["pods/tenant/example.com/239-0"] != 1 || got["pods/other/other"] != 0 {
		t.Errorf("afterwards %v", got)
	}
}

// A tenant that creates and deletes Leases, and changes their holders, causes a limited number of series.
func TestRenamedLeasesAndHolders(t *testing.T) {
	f := newFixture(t, Options{})
	leases := f.NewLeaseHandler(nil)
	n := renamed(t, f, catalog.LeaseHolderInfo, func(scrape int) {
		for i := range 50 {
			name := fmt.Sprintf("lease-%d", scrape*50+i)
			leases.OnAdd(held("tenant", name, "pod", noon), false)
			leases.OnDelete(held("tenant", fmt.Sprintf("lease-%d", (scrape-1)*50+i), "pod", noon))
		}
	})
	if n < newValues || n > newWithinAnHour {
		t.Errorf("%d series by renamed Leases, want at most %d", n, newWithinAnHour)
	}
	n = renamed(t, f, catalog.LeaseHolderInfo, func(scrape int) {
		leases.OnUpdate(nil, held("quick", "lock", fmt.Sprint("pod-", scrape), noon))
	})
	if n -= len(f.take(t, catalog.LeaseHolderInfo)); n < newValues || n > newWithinAnHour+newValues {
		t.Errorf("%d series by renamed holders", n)
	}
	leases.OnUpdate(nil, held("quick", "lock", "last", noon)) // since the last scrape
	if got := f.take(t, catalog.LeaseHolderInfo); got["quick/lock/other"] != 1 {
		t.Errorf("the last holder is not other: %v", got)
	}
	f.pass(time.Hour)
	if got := f.take(t, catalog.LeaseHolderInfo); got["quick/lock/last"] != 1 {
		t.Errorf("the last holder has no series after an hour: %v", got)
	}
	leases.OnAdd(held("existing", "lock", "first", noon), true)
	before := len(f.take(t, catalog.LeaseHolderInfo))
	n = renamed(t, f, catalog.LeaseHolderInfo, func(scrape int) { // released in between
		leases.OnUpdate(nil, held("existing", "lock", "", noon))
		f.take(t, catalog.LeaseHolderInfo)
		leases.OnUpdate(nil, held("existing", "lock", fmt.Sprint("pod-", scrape), noon))
	})
	if n -= before; n < newValues || n > newWithinAnHour+3 {
		t.Errorf("%d series by released Leases that existed at the start", n)
	}
}

// What exists at the start, and in first namespaces, is reported immediately. Values that come back are not new.
func TestKnownValues(t *testing.T) {
	f := newFixture(t, Options{FirstNamespaces: []string{"platform"}})
	pods, leases := f.NewHandler("pods"), f.NewLeaseHandler(nil)
	for i := range 3 * newValues {
		pods.OnAdd(deletedPod("first", fmt.Sprint(i), fmt.Sprint("example.com/", i)), true)
		pods.OnAdd(deletedPod("platform", fmt.Sprint(i), fmt.Sprint("example.com/", i)), false)
		leases.OnAdd(held("first", fmt.Sprint(i), fmt.Sprint("pod-", i), noon), true)
	}
	groups, holders := f.take(t, catalog.ObjectTerminating), f.take(t, catalog.LeaseHolderInfo)
	if len(groups) != 6*newValues+1 || len(holders) != 3*newValues {
		t.Errorf("%d groups and %d holders", len(groups), len(holders))
	}
	for i := range 5 * newValues {
		pods.OnAdd(deletedPod("busy", fmt.Sprint(i)), false)
		if i%(newValues/4) == 0 || i > 5*newValues-3 { // a scrape of all groups takes as long as hundreds of events
			if got := f.take(t, catalog.ObjectTerminating)["pods/busy/none"]; got != 1 {
				t.Fatalf("after %d Pods %v", i, got)
			}
		}
		pods.OnDelete(deletedPod("busy", fmt.Sprint(i)))
	}
}

// A namespace with the name of the group other has a series of its own, at the front if it is configured so.
func TestNamespaceNamedOther(t *testing.T) {
	f := newFixture(t, Options{Groups: 2, FirstNamespaces: []string{"other"}})
	deployments := f.deployments()
	for _, namespace := range []string{"a", "b", "c", "d", "e", "other"} {
		o := object(namespace, "x")
		o.Generation = 2
		deployments.OnAdd(&observedMeta{newMeta(o), 1}, true)
	}
	got := f.take(t, catalog.ObjectGenerationLag)
	if got["deployments.apps/other_"] != 1 || got["deployments.apps/other"] != 4 {
		t.Errorf("%v", got)
	}
}

// State is kept only for values that may still be known.
func TestAllowanceForgets(t *testing.T) {
	a := newAllowance[string](nil)
	for i := range 1000 {
		a.admit(fmt.Sprint("ns-", i), "v", false, noon)
	}
	a.admit("late", "v", false, noon.Add(knownFor+time.Minute))
	if len(a.namespaces) != 1 {
		t.Errorf("%d namespaces are kept", len(a.namespaces))
	}
}
