package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// held returns a Lease with the given holder and time of renewal.
func held(namespace, name, holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)},
		Spec: coordinationv1.LeaseSpec{
			LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: renewed}, LeaseTransitions: ptr.To[int32](3),
		},
	}
	if holder != "" {
		l.Spec.HolderIdentity = &holder
	}
	return l
}

func expect(t testing.TB, f *fixture, m catalog.Definition, want samples) {
	t.Helper()
	if got := f.take(t, m); !maps.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", m.Define().Name, got, want)
	}
}

// Every reported metric is in the catalog, and every metric of the catalog is reported.
func TestMetricsAreThoseOfTheCatalog(t *testing.T) {
	descs := make(chan *prometheus.Desc, 100)
	newFixture(t, Options{}).Describe(descs)
	close(descs)
	got := map[string]bool{}
	for d := range descs {
		got[d.String()] = true
	}
	want := map[string]bool{}
	for _, m := range catalog.All() {
		if m.Family == catalog.LeaseExpired.Family || m.Family == catalog.ObjectTerminating.Family {
			want[prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil).String()] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("described:\n%v\nin the catalog:\n%v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// A Lease expires when its record has not changed for its duration, by the local clock. The clock of its holder, which is an
// hour off here, has no effect.
func TestLeaseExpiresByOurClock(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		f := newFixture(t, Options{})
		leases := f.NewLeaseHandler(nil)
		theirs := noon.Add(skew)
		leases.OnAdd(held("ns", "lock", "a", theirs), true)
		expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
		expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/lock": 0}) // no renewal has been observed
		expect(t, f, catalog.LeaseHolderInfo, samples{"ns/lock/a": 1})
		expect(t, f, catalog.LeaseDuration, samples{"ns/lock": 15})
		expect(t, f, catalog.LeaseTransitions, samples{"ns/lock": 3})

		f.pass(10 * time.Second)
		leases.OnUpdate(nil, held("ns", "lock", "a", theirs.Add(time.Second)))
		f.pass(15*time.Second - 1)
		expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
		expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/lock": float64(noon.Unix() + 10)})

		// A change of another field is not a renewal.
		touched := held("ns", "lock", "a", theirs.Add(time.Second))
		touched.Annotations = map[string]string{"touched": "yes"}
		leases.OnUpdate(nil, touched)
		f.pass(1)
		expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 1})
		expect(t, f, catalog.LeaseHolderInfo, samples{"ns/lock/a": 1}) // the last holder
		expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/lock": float64(noon.Unix() + 10)})

		leases.OnUpdate(nil, held("ns", "lock", "b", theirs.Add(2*time.Second)))
		expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
		expect(t, f, catalog.LeaseHolderInfo, samples{"ns/lock/b": 1})
	}
}

// A released Lease has expired, and one without a duration never expires.
func TestLeaseWithoutHolderOrDuration(t *testing.T) {
	f := newFixture(t, Options{})
	leases := f.NewLeaseHandler(nil)
	leases.OnAdd(held("ns", "released", "a", noon), false)
	endless := held("ns", "endless", "a", noon)
	endless.Spec.LeaseDurationSeconds = nil
	leases.OnAdd(endless, false)
	expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/released": 0, "ns/endless": 0}) // the first event is not a renewal
	leases.OnUpdate(nil, held("ns", "released", "a", noon.Add(1)))

	f.pass(time.Second)
	leases.OnUpdate(nil, held("ns", "released", "", noon.Add(time.Second)))
	expect(t, f, catalog.LeaseExpired, samples{"ns/released": 1})
	expect(t, f, catalog.LeaseHolderInfo, samples{"ns/endless/a": 1})
	expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/released": float64(noon.Unix()), "ns/endless": 0}) // a release is not a renewal
	f.pass(time.Hour)
	expect(t, f, catalog.LeaseExpired, samples{"ns/released": 1})
	expect(t, f, catalog.LeaseDuration, samples{"ns/released": 15})
}

// While the informer lags, a missing renewal does not expire a Lease.
func TestLagKeepsLeasesFromExpiring(t *testing.T) {
	f := newFixture(t, Options{})
	var lag time.Duration
	leases := f.NewLeaseHandler(func() time.Duration { return lag })
	leases.OnAdd(held("ns", "lock", "a", noon), false)
	f.pass(time.Minute)
	lag = 50 * time.Second
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
	lag = 45 * time.Second
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 1})
}

// A new Lease of the same name starts over, after a deletion that was received, missed or found by a relist.
func TestRecreatedLease(t *testing.T) {
	f := newFixture(t, Options{})
	leases := f.NewLeaseHandler(nil)
	again := func(uid string) *coordinationv1.Lease {
		l := held("ns", "lock", "b", noon)
		l.UID, l.Spec.LeaseTransitions = types.UID(uid), nil
		return l
	}
	leases.OnAdd(held("ns", "lock", "a", noon), true)
	f.pass(time.Minute)
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 1})
	leases.OnUpdate(nil, again("2"))
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
	expect(t, f, catalog.LeaseTransitions, samples{"ns/lock": 0})
	expect(t, f, catalog.LeaseRenewedTimestamp, samples{"ns/lock": 0})
	expect(t, f, catalog.LeaseObjects, heldLeases(1))

	leases.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/lock"})
	for _, m := range []catalog.Definition{catalog.LeaseExpired, catalog.LeaseHolderInfo, catalog.LeaseRenewedTimestamp, catalog.LeaseDuration, catalog.LeaseTransitions} {
		expect(t, f, m, samples{})
	}
	expect(t, f, catalog.LeaseObjects, heldLeases(0))
	leases.OnAdd(again("3"), false)
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock": 0})
	leases.OnDelete(again("3"))
	expect(t, f, catalog.LeaseExpired, samples{})
}

// heldLeases returns the expected counts with n Leases of leaders.
func heldLeases(n float64) samples {
	return samples{
		"leader/held": n, "leader/expired": 0, "node/held": 0, "node/expired": 0, "apiserver/held": 0, "apiserver/expired": 0,
	}
}

// Leases of nodes, of API servers and beyond the limit do not have their own series, but are counted.
func TestLeasesAreLimited(t *testing.T) {
	f := newFixture(t, Options{Leases: 3})
	leases := f.NewLeaseHandler(nil)
	for i := range 5 {
		leases.OnAdd(held("ns", fmt.Sprint("lock-", i), "a", noon), true)
		leases.OnAdd(held("kube-node-lease", fmt.Sprint("node-", i), "kubelet", noon), true)
	}
	server := held("kube-system", "apiserver-1", "apiserver", noon)
	server.Labels = map[string]string{apiServerLabel: "kube-apiserver"}
	leases.OnAdd(server, true)
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock-0": 0, "ns/lock-1": 0, "ns/lock-2": 0})
	expect(t, f, catalog.ObjectOverflow, samples{"leases": 2, "terminating": 0, "generation_lag": 0})

	f.pass(10 * time.Second)
	leases.OnUpdate(nil, held("kube-node-lease", "node-0", "kubelet", noon.Add(time.Second)))
	leases.OnUpdate(nil, held("ns", "lock-4", "a", noon.Add(time.Second)))
	f.pass(5 * time.Second)
	expect(t, f, catalog.LeaseObjects, samples{
		"leader/held": 1, "leader/expired": 4, "node/held": 1, "node/expired": 4, "apiserver/held": 0, "apiserver/expired": 1,
	})

	// A deleted Lease makes room for one that had none.
	leases.OnDelete(held("ns", "lock-3", "a", noon))
	leases.OnDelete(held("ns", "lock-1", "a", noon))
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock-0": 1, "ns/lock-4": 0, "ns/lock-2": 1})
	leases.OnAdd(held("ns", "lock-5", "a", noon), false)
	expect(t, f, catalog.LeaseExpired, samples{"ns/lock-0": 1, "ns/lock-4": 0, "ns/lock-2": 1})
	expect(t, f, catalog.ObjectOverflow, samples{"leases": 3, "terminating": 0, "generation_lag": 0})
}

func TestHolderIsCutOff(t *testing.T) {
	f := newFixture(t, Options{})
	f.NewLeaseHandler(nil).OnAdd(held("ns", "lock", strings.Repeat("é", 1000), noon), true)
	expect(t, f, catalog.LeaseHolderInfo, samples{"ns/lock/" + strings.Repeat("é", 126): 1})
}

// Each namespace may have its own informer. When one has ended, its Leases are removed and those of others stay.
func TestClosedLeases(t *testing.T) {
	f := newFixture(t, Options{Leases: 2})
	expect(t, f, catalog.LeaseObjects, samples{}) // no handler
	first, second := f.NewLeaseHandler(nil), f.NewLeaseHandler(nil)
	first.OnAdd(held("one", "lock", "a", noon), true)
	second.OnAdd(held("two", "lock", "a", noon), true)
	expect(t, f, catalog.LeaseExpired, samples{"one/lock": 0, "two/lock": 0})
	expect(t, f, catalog.LeaseObjects, heldLeases(2))

	first.Close()
	first.OnUpdate(nil, held("one", "lock", "a", noon.Add(time.Second))) // a late event
	first.OnAdd(held("one", "other", "a", noon), false)
	expect(t, f, catalog.LeaseExpired, samples{"two/lock": 0})
	expect(t, f, catalog.LeaseObjects, heldLeases(1))
	f.NewLeaseHandler(nil).OnAdd(held("three", "lock", "a", noon), true) // below the limit again
	expect(t, f, catalog.LeaseExpired, samples{"two/lock": 0, "three/lock": 0})
}
