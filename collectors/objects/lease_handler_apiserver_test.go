package objects

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Periods of an election. The lease is long enough for a slow machine, and short because TestElections waits for its expiry.
const (
	leaseSeconds  = 8
	renewDeadline = 6 * time.Second
	retryPeriod   = 300 * time.Millisecond
)

func client(t testing.TB) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(stacktest.Config(t))
	config.QPS = -1
	return kubernetes.NewForConfigOrDie(config)
}

// follow runs an informer with a handler until the test ends.
func follow(t testing.TB, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
	t.Helper()
	if err := informer.SetTransform(Transform); err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("no sync")
	}
}

// followLeases reports the Leases of a namespace.
func followLeases(t testing.TB, c *Collector, namespace string) {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(client(t), 0, informers.WithNamespace(namespace))
	follow(t, factory.Coordination().V1().Leases().Informer(), c.NewLeaseHandler(nil))
}

// skewed is a lock with a holder that has a wrong clock.
type skewed struct {
	resourcelock.Interface
	by time.Duration
}

func (s skewed) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return s.Interface.Create(ctx, s.skew(r))
}

func (s skewed) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return s.Interface.Update(ctx, s.skew(r))
}

func (s skewed) skew(r resourcelock.LeaderElectionRecord) resourcelock.LeaderElectionRecord {
	r.AcquireTime.Time, r.RenewTime.Time = r.AcquireTime.Add(s.by), r.RenewTime.Add(s.by)
	return r
}

// campaign runs client-go's leader election for a candidate until stop is called. Without release, the candidate ends as if it
// were killed.
func campaign(t *testing.T, namespace, identity string, skew time.Duration, release bool) (stop func()) {
	t.Helper()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: skewed{&resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "election"},
			Client:     client(t).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}, skew},
		LeaseDuration: leaseSeconds * time.Second, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { elector.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// TestElections compares the metrics of a Lease with real elections.
func TestElections(t *testing.T) {
	t.Parallel()
	namespace := stacktest.Namespace(t)
	registry := prometheus.NewRegistry()
	collector, err := New(registry, Options{})
	if err != nil {
		t.Fatal(err)
	}
	followLeases(t, collector, namespace)
	lease := namespace + "/election"
	reports := func(what string, m catalog.Definition, want samples) {
		t.Helper()
		await.True(t, what, func() bool { return maps.Equal(take(t, registry, m), want) })
	}

	kill := campaign(t, namespace, "a", 0, false)
	reports("the first leader", catalog.LeaseHolderInfo, samples{lease + "/a": 1})
	reports("a valid Lease", catalog.LeaseExpired, samples{lease: 0})
	reports("its duration", catalog.LeaseDuration, samples{lease: leaseSeconds})
	reports("no change", catalog.LeaseTransitions, samples{lease: 0})
	await.True(t, "a renewal", func() bool { return take(t, registry, catalog.LeaseRenewedTimestamp)[lease] > 0 })

	kill()
	killed := time.Now()
	reports("the end of the Lease", catalog.LeaseExpired, samples{lease: 1})
	now := float64(time.Now().UnixNano()) / 1e9
	if renewed := take(t, registry, catalog.LeaseRenewedTimestamp)[lease]; now-renewed < leaseSeconds {
		t.Errorf("the Lease expired %v s after its renewal at %v, too early", now-renewed, renewed)
	}
	reports("its last holder", catalog.LeaseHolderInfo, samples{lease + "/a": 1})

	// The clock of the next holder is wrong by an hour, which has no effect.
	release := campaign(t, namespace, "b", -time.Hour, true)
	reports("the second leader", catalog.LeaseHolderInfo, samples{lease + "/b": 1})
	reports("one change", catalog.LeaseTransitions, samples{lease: 1})
	first := take(t, registry, catalog.LeaseRenewedTimestamp)[lease]
	if age := time.Since(killed).Seconds() - (first - float64(killed.UnixNano())/1e9); age < 0 || first < float64(killed.Unix()) {
		t.Errorf("seen at %v, %v s ago", first, age)
	}
	await.True(t, "renewals for longer than the Lease's duration", func() bool {
		if expired := take(t, registry, catalog.LeaseExpired)[lease]; expired != 0 {
			t.Fatal("a renewed Lease has expired")
		}
		return take(t, registry, catalog.LeaseRenewedTimestamp)[lease] > first+leaseSeconds+1
	})

	release()
	reports("no holder", catalog.LeaseHolderInfo, samples{})
	reports("a free Lease", catalog.LeaseExpired, samples{lease: 1})

	stop := campaign(t, namespace, "c", time.Hour, false)
	reports("the third leader", catalog.LeaseHolderInfo, samples{lease + "/c": 1})
	reports("a Lease that is held", catalog.LeaseExpired, samples{lease: 0})
	reports("two changes", catalog.LeaseTransitions, samples{lease: 2})

	// The Lease is deleted. Its holder creates it again and continues to count transitions.
	leases := client(t).CoordinationV1().Leases(namespace)
	remove := func() float64 {
		if err := leases.Delete(t.Context(), "election", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		return float64(time.Now().UnixNano()) / 1e9
	}
	removed := remove()
	await.True(t, "a renewal of the new Lease", func() bool {
		return take(t, registry, catalog.LeaseRenewedTimestamp)[lease] > removed
	})
	reports("the same leader", catalog.LeaseHolderInfo, samples{lease + "/c": 1})
	reports("a Lease that is held again", catalog.LeaseExpired, samples{lease: 0})
	reports("as many changes", catalog.LeaseTransitions, samples{lease: 2})

	// Without a holder it stays deleted. The Lease that another candidate creates starts at 0.
	stop()
	remove()
	reports("no Lease", catalog.LeaseExpired, samples{})
	campaign(t, namespace, "d", 0, false)
	reports("the leader of another Lease", catalog.LeaseHolderInfo, samples{lease + "/d": 1})
	reports("its changes", catalog.LeaseTransitions, samples{lease: 0})
	reports("its state", catalog.LeaseExpired, samples{lease: 0})
}

// TestThousandsOfLeases has many more Leases than the limit, and those of nodes.
func TestThousandsOfLeases(t *testing.T) {
	t.Parallel()
	const many, nodes, limit = 2000, 200, 100
	namespace, c := stacktest.Namespace(t), client(t)
	registry := prometheus.NewRegistry()
	collector, err := New(registry, Options{Leases: limit})
	if err != nil {
		t.Fatal(err)
	}
	followLeases(t, collector, namespace)
	followLeases(t, collector, "kube-node-lease")
	names := make(chan *coordinationv1.Lease)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for l := range names {
				if _, err := c.CoordinationV1().Leases(l.Namespace).Create(t.Context(), l, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range many + nodes {
		l := held(namespace, fmt.Sprint("lock-", i), "holder", time.Now())
		if i >= many {
			l.Namespace = "kube-node-lease"
		}
		l.UID = ""
		l.Spec.LeaseDurationSeconds = new(int32)
		*l.Spec.LeaseDurationSeconds = 3600
		names <- l
	}
	close(names)
	workers.Wait()
	t.Cleanup(func() {
		if err := c.CoordinationV1().Leases("kube-node-lease").DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
	await.True(t, "all Leases", func() bool {
		objects := take(t, registry, catalog.LeaseObjects)
		return objects["leader/held"] == many && objects["node/held"] == nodes
	})
	for _, m := range []catalog.Definition{catalog.LeaseHolderInfo, catalog.LeaseExpired, catalog.LeaseTransitions} {
		if n := len(take(t, registry, m)); n != limit {
			t.Errorf("%d series of %s, want %d", n, m.Define().Name, limit)
		}
	}
	if overflow := take(t, registry, catalog.ObjectOverflow); overflow["leases"] != many-limit {
		t.Errorf("overflow: %v, want %d", overflow, many-limit)
	}
	if err := c.CoordinationV1().Leases(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "no Lease", func() bool {
		return take(t, registry, catalog.LeaseObjects)["leader/held"] == 0 && len(take(t, registry, catalog.LeaseExpired)) == 0
	})
}
