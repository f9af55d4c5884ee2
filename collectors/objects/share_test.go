package objects

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// seen returns the number of Leases with their own series, by namespace.
func seen(t *testing.T, f *fixture) map[string]int {
	t.Helper()
	n := map[string]int{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.leases {
		for _, named := range f.leaseNames.of(l, noon) {
			n[named.Namespace]++
		}
	}
	return n
}

// A tenant's Leases displace no Leases of kube-system or of configured namespaces, and those of other namespaces only down to an
// equal share. A Lease without room gets a series when there is room again.
func TestLeasesOfOneNamespaceHideNoOthers(t *testing.T) {
	f := newFixture(t, Options{Leases: 6, FirstNamespaces: []string{"platform"}})
	leases := f.NewLeaseHandler(nil)
	for i := range 50 {
		leases.OnAdd(held("tenant", fmt.Sprint("made-up-", i), "a", noon), true)
	}
	want := func(what string, want map[string]int) {
		t.Helper()
		if got := seen(t, f); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("a tenant alone", map[string]int{"tenant": 6})
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		leases.OnAdd(held("kube-system", name, "a", noon), true)
	}
	leases.OnAdd(held("platform", "operator", "a", noon), true)
	for i := range 50 {
		leases.OnAdd(held("other", fmt.Sprint("lock-", i), "a", noon), true)
	}
	want("first namespaces, and equal shares of the rest", map[string]int{"kube-system": 2, "platform": 1, "tenant": 2, "other": 1})
	expired := f.take(t, catalog.LeaseExpired)
	for _, lease := range []string{"kube-system/kube-controller-manager", "kube-system/kube-scheduler", "platform/operator"} {
		if _, ok := expired[lease]; !ok {
			t.Errorf("%s has no series", lease)
		}
	}
	if len(expired) != 6 {
		t.Errorf("%d series, want 6", len(expired))
	}
	for i := range 50 {
		leases.OnDelete(held("tenant", fmt.Sprint("made-up-", i), "a", noon))
	}
	want("the tenant's are deleted", map[string]int{"kube-system": 2, "platform": 1, "other": 3})
	leases.Close()
	want("closed", map[string]int{})
	if f.leaseNames.share.n != 0 || f.leaseNames.share.waiting.len() != 0 {
		t.Errorf("%d names are in use and %d namespaces wait", f.leaseNames.share.n, f.leaseNames.share.waiting.len())
	}
}

// First namespaces do not displace each other, but they displace all others.
func TestFirstNamespacesAlone(t *testing.T) {
	s := newShare[int](3, []string{"a"})
	for i := range 3 {
		s.add("a", i)
	}
	s.add("tenant", 20) // waits longer than the next one
	if chosen, displaced := s.add("kube-system", 10); chosen || len(displaced) > 0 {
		t.Errorf("chosen: %t, displaced: %v", chosen, displaced)
	}
	if promoted := s.remove("a", 1); !slices.Equal(promoted, []int{10}) {
		t.Errorf("promoted %v, want the item of a first namespace", promoted)
	}
	if promoted := s.remove("a", 2); !slices.Equal(promoted, []int{20}) {
		t.Errorf("promoted %v, want the tenant's item", promoted)
	}
	if chosen, displaced := s.add("kube-system", 11); !chosen || !slices.Equal(displaced, []int{20}) {
		t.Errorf("chosen: %t, displaced: %v, want the tenant's only item", chosen, displaced)
	}
	if promoted := s.remove("tenant", 20); len(promoted) > 0 || s.waiting.len() > 0 {
		t.Errorf("promoted %v, %d namespaces wait", promoted, s.waiting.len())
	}
	s.remove("a", 99) // unknown
	if s.n != 3 {
		t.Errorf("%d are chosen", s.n)
	}
}

// An object with many made-up finalizers takes room only from its own namespace, and only for some of them.
func TestFinalizersOfOneObjectHideNoOthers(t *testing.T) {
	f := newFixture(t, Options{Groups: 30})
	pods := f.NewHandler("pods")
	var finalizers []string
	for i := range 1000 {
		finalizers = append(finalizers, fmt.Sprintf("tenant.example.com/%04d", i))
	}
	pods.OnAdd(object("tenant", "a", finalizers[:500]...), true)
	pods.OnAdd(object("tenant", "b", finalizers[500:]...), true)
	pods.OnAdd(object("victim", "pod", "example.com/cleanup"), true)
	pods.OnAdd(object("kube-system", "pod", "example.com/cleanup"), true)
	got := f.take(t, catalog.ObjectTerminating)
	for _, group := range []string{"pods/victim/example.com/cleanup", "pods/kube-system/example.com/cleanup"} {
		if got[group] != 1 {
			t.Errorf("%s: %v, want 1", group, got[group])
		}
	}
	if got["pods/tenant/other"] != 2 {
		t.Errorf("%v objects of the tenant with too many finalizers, want 2", got["pods/tenant/other"])
	}
	if n := len(got); n != 30+2 { // with the group other and that of the informer
		t.Errorf("%d groups, want 32", n)
	}
	pods.OnDelete(object("tenant", "a"))
	pods.OnDelete(object("tenant", "b"))
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/victim/example.com/cleanup": 1, "pods/kube-system/example.com/cleanup": 1})
	if s := f.terminating.share; s.n != 2 || s.waiting.len() != 0 || len(f.terminating.groups) != 3 {
		t.Errorf("%d groups have room, %d namespaces wait, %d groups", s.n, s.waiting.len(), len(f.terminating.groups))
	}
}

// Objects in the group other get their own group when there is room, with the same age.
func TestGroupsAreTriedAgain(t *testing.T) {
	f := newFixture(t, Options{Groups: 1})
	pods := f.NewHandler("pods")
	pods.OnAdd(object("a", "pod", "x/1"), true)
	pods.OnAdd(object("b", "pod", "x/1"), true)
	pods.OnAdd(object("b", "another", "x/1"), true)
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/a/x/1": 1, "pods/other/other": 2})
	pods.OnDelete(object("a", "pod"))
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/b/x/1": 2})
}

// Labels from a broken API server are replaced, and do not break the scrape.
func TestInvalidNames(t *testing.T) {
	f := newFixture(t, Options{})
	pods, leases := f.NewHandler("pods"), f.NewLeaseHandler(nil)
	pods.OnAdd(object("n\xff", "pod", "x/\xfe"), true)
	leases.OnAdd(held("ns", "lock\xff", "a\xff", noon), true)
	leases.OnAdd(held("ns", "lock\xfe", "a", noon), true) // both would have the same label
	leases.OnAdd(held("ns", "lock", "a\xff", noon), true)
	expect(t, f, catalog.ObjectTerminating, samples{"pods/*/none": 0, "pods/n\uFFFD/x/\uFFFD": 1})
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
	expect(t, f, catalog.LeaseHolderInfo, samples{"ns/lock/a": 1})
	expect(t, f, catalog.LeaseObjects, heldLeases(3))
	leases.OnDelete(held("ns", "lock\xff", "a", noon))
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
}
