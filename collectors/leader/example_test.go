package leader_test

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A candidate that becomes the leader and releases the lock.
func ExampleNewLock() {
	obs, registry := observertest.Example()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	config := leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "my-controller"},
			Client:     fake.NewClientset().CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "replica-1"},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { cancel() },
			OnStoppedLeading: func() {},
		},
	}

	config.Lock = leader.NewLock(obs, config.Lock, leader.Options{})

	leaderelection.RunOrDie(ctx, config)
	observertest.Print(registry, "controller_leader", "controller_leader_transitions_total")
	// Output:
	// controller_leader{lock="shop/my-controller"} 0
	// controller_leader_transitions_total{event="acquired",lock="shop/my-controller"} 1
	// controller_leader_transitions_total{event="lost",lock="shop/my-controller"} 0
	// controller_leader_transitions_total{event="released",lock="shop/my-controller"} 1
}

// client-go's own metrics of leader election, for the whole process.
func ExampleNewMetricsProvider() {
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}

	leaderelection.SetProvider(leader.NewMetricsProvider(obs))
}
