package clientgo_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/integrations/clientgo"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

type syncFunc = func(context.Context, string) error

// constructors are the functions that a program calls, of client-go or of the library.
type constructors struct {
	config  func(*rest.Config) *rest.Config
	factory func(client kubernetes.Interface, namespace string) informers.SharedInformerFactory
	queue   func(workqueue.TypedRateLimiter[string]) workqueue.TypedRateLimitingInterface[string]
	handle  func(ctx context.Context, key string, sync syncFunc) error
	lock    func(resourcelock.Interface) resourcelock.Interface
}

var plainConstructors = constructors{
	config: func(config *rest.Config) *rest.Config { return config },
	factory: func(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	},
	queue:  workqueue.NewTypedRateLimitingQueue[string],
	handle: func(ctx context.Context, key string, sync syncFunc) error { return sync(ctx, key) },
	lock:   func(lock resourcelock.Interface) resourcelock.Interface { return lock },
}

var decoratedConstructors = constructors{
	config: func(config *rest.Config) *rest.Config { return clientgo.WrapConfig(obs, config) },
	factory: func(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
		return informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: namespace})
	},
	queue: func(limiter workqueue.TypedRateLimiter[string]) workqueue.TypedRateLimitingInterface[string] {
		return clientgo.NewTypedRateLimitingQueue(obs, "labels", limiter)
	},
	handle: func(ctx context.Context, key string, sync syncFunc) error {
		return clientgo.NewSyncHandler(obs, "labels", sync)(ctx, key)
	},
	lock: func(lock resourcelock.Interface) resourcelock.Interface {
		return leader.NewLock(obs, lock, leader.Options{Name: "labels"})
	},
}

// TestBehavior runs a controller with client-go's own constructors, then with those of the library, against a real API server.
// Requests, Events, retries, leader election and shutdown must not differ (O4).
func TestBehavior(t *testing.T) {
	plain, decorated := runLabeler(t, plainConstructors), runLabeler(t, decoratedConstructors)
	for _, l := range []*labeler{plain, decorated} {
		for n, delay := 1, baseDelay; n <= failures; n, delay = n+1, 2*delay {
			if gap := l.started["flaky"][n].Sub(l.started["flaky"][n-1]); gap < delay {
				t.Errorf("retry %d is %v after the attempt before, want at least %v", n, gap, delay)
			}
		}
	}
	if want := []string{
		"leading", "informers stopped", "last synced", "queue drained", "workers ended",
		"lease released", "stopped leading", "elector ended",
	}; !slices.Equal(plain.steps, want) {
		t.Errorf("the plain controller's steps are %q, want %q", plain.steps, want)
	}
	want, got := plain.facts(), decorated.facts()
	for _, fact := range want {
		if !slices.Contains(got, fact) {
			t.Errorf("plain, not decorated: %s", fact)
		}
	}
	for _, fact := range got {
		if !slices.Contains(want, fact) {
			t.Errorf("decorated, not plain: %s", fact)
		}
	}
	for metric, labels := range map[string][]string{
		"k8s_client_requests_total":           {"resource", "leases.coordination.k8s.io", "verb", "update"},
		"k8s_informer_synced":                 {"informer_type", "configmaps"},
		"controller_reconcile_total":          {"controller", "labels", "result", "error"},
		"controller_backoff_seconds_count":    {"controller", "labels"},
		"controller_leader_transitions_total": {"lock", "labels", "event", "acquired"},
	} {
		if decorated.metrics.Sum(metric, labels...) == 0 {
			t.Errorf("%s%v of the decorated controller is 0", metric, labels)
		}
	}
	if !t.Failed() {
		t.Logf("the same in both runs:\n%s", strings.Join(want, "\n"))
	}
}
