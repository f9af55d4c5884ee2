package collectors_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// conflicting is an API server that has just been written to by somebody else.
func conflicting() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`)
	}))
}

// All clients that are made of the configuration are observed, and how long they wait for its rate limiter.
func ExampleObserver_WrapConfig() {
	server := conflicting()
	defer server.Close()
	registry, obs := newObserver()
	config := &rest.Config{Host: server.URL, RateLimiter: flowcontrol.NewTokenBucketRateLimiter(50, 100)}

	client := kubernetes.NewForConfigOrDie(obs.WrapConfig(config))

	_, err := client.CoreV1().Pods("shop").UpdateStatus(context.Background(), shopPod, metav1.UpdateOptions{})
	fmt.Println(err != nil)
	show(registry, "k8s_client_requests_total", "k8s_client_conflicts_total")
	// Output:
	// true
	// k8s_client_conflicts_total{resource="pods",subresource="status"} 1
	// k8s_client_requests_total{code="409",resource="pods",subresource="status",verb="update"} 1
}

// Where somebody else makes the client, the transport is enough.
func ExampleObserver_WrapTransport() {
	server := conflicting()
	defer server.Close()
	registry, obs := newObserver()
	config := &rest.Config{Host: server.URL}

	config.Wrap(obs.WrapTransport)

	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("shop").Create(context.Background(), shopPod, metav1.CreateOptions{})
	fmt.Println(err != nil)
	show(registry, "k8s_client_conflicts_total")
	// Output:
	// true
	// k8s_client_conflicts_total{resource="pods",subresource=""} 1
}

// A candidate that leads and steps down.
func ExampleObserver_Lock() {
	registry, obs := newObserver()
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

	config.Lock = obs.Lock("my-controller", config.Lock)

	leaderelection.RunOrDie(ctx, config)
	show(registry, "controller_leader", "controller_leader_transitions_total")
	// Output:
	// controller_leader{lock="my-controller"} 0
	// controller_leader_transitions_total{event="acquired",lock="my-controller"} 1
	// controller_leader_transitions_total{event="lost",lock="my-controller"} 0
	// controller_leader_transitions_total{event="released",lock="my-controller"} 1
}

// client-go's own metrics of leader election, for the whole process.
func ExampleObserver_LeaderMetricsProvider() {
	obs, err := collectors.New(prometheus.NewRegistry(), collectors.Options{Name: "my-controller", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}

	leaderelection.SetProvider(obs.LeaderMetricsProvider())
}
