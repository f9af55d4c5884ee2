package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestControllerOnARealServer covers S7, S8 and S20 with a typical controller. Its workers start late. Until then, one
// object changes often. One object needs three attempts, one never succeeds, and one has a terminal error.
func TestControllerOnARealServer(t *testing.T) {
	client, namespace := kubernetes.NewForConfigOrDie(stacktest.Config(t)), stacktest.Namespace(t)
	obs, registry := observertest.New(t, observertest.Upstream)
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	q := queue.NewTypedRateLimitingQueue(obs, "labels", limiter, queue.Options[string]{})

	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	configMaps := factory.Core().V1().ConfigMaps()
	enqueue := func(object any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err != nil {
			t.Error(err)
		}
		q.Add(key)
	}
	if _, err := configMaps.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(object any) bool { return object.(metav1.Object).GetName() != "kube-root-ca.crt" },
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }, DeleteFunc: enqueue,
		},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	factory.WaitForCacheSync(ctx.Done()) // the list would replace events

	write := client.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{"busy", "flaky", "hopeless", "invalid"} {
		if _, err := write.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const changes = 5
	for n := range changes {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "busy"}, Data: map[string]string{"n": fmt.Sprint(n)}}
		if _, err := write.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const labels = "{controller=labels}"
	before := metricstest.Eventually(t, registry, "all events are in the queue", func(s metricstest.Snapshot) bool {
		return s["controller_queue_coalesced_total"+labels] == changes && s["workqueue_depth"] == 4 && s["controller_queue_oldest_item_seconds"+labels] > 0
	})

	var (
		workers  sync.WaitGroup
		mu       sync.Mutex
		attempts = map[string]int{}
	)
	errInvalid := errors.New("invalid")
	reconcile := func(key string) error {
		_, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			return err
		}
		object, err := configMaps.Lister().ConfigMaps(namespace).Get(name)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		attempts[name]++
		switch {
		case name == "invalid":
			return errInvalid
		case name == "hopeless", name == "flaky" && attempts[name] < 3:
			return errors.New("try again")
		case name == "busy" && object.Data["n"] != fmt.Sprint(changes-1):
			return fmt.Errorf("old state: %v", object.Data)
		}
		return nil
	}
	for range 2 {
		workers.Go(func() {
			for key, shutdown := q.Get(); !shutdown; key, shutdown = q.Get() {
				switch err := reconcile(key); {
				case err == nil:
					q.Forget(key)
				case errors.Is(err, errInvalid):
					q.Dropped(queue.DroppedTerminal, 1)
					q.Forget(key)
				case q.NumRequeues(key) < 4:
					q.AddRateLimited(key)
				default:
					q.Dropped(queue.DroppedMaxRetries, 1)
					q.Forget(key)
				}
				q.Done(key)
			}
		})
	}
	after := metricstest.Eventually(t, registry, "all items are done", func(s metricstest.Snapshot) bool {
		return s["controller_item_retries_count"+labels] == 4 && s["controller_item_retries_max"+labels] == 0 &&
			s["controller_dropped_total{controller=labels,reason=max_retries}"] == 1 && s["controller_queue_delayed_items"+labels] == 0
	})
	mu.Lock()
	for name, want := range map[string]int{"busy": 1, "flaky": 3, "hopeless": 5, "invalid": 1} {
		if attempts[name] != want {
			t.Errorf("%s: %d attempts, want %d", name, attempts[name], want)
		}
	}
	mu.Unlock()
	changed := after.Since(before, "workqueue_", "controller_queue_oldest_item_seconds", "controller_running_workers")
	changed.Equal(t, metricstest.Snapshot{
		"controller_item_retries_count" + labels:                         4,
		"controller_backoff_seconds_count" + labels:                      2 + 4,
		"controller_dropped_total{controller=labels,reason=max_retries}": 1,
		"controller_dropped_total{controller=labels,reason=terminal}":    1,
	})
	// One item has two retries and another four, after 5 ms, doubled each time.
	check := func(series string, want float64) {
		t.Helper()
		if diff := after[series] - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s is %v, want %v", series, after[series], want)
		}
	}
	check("controller_backoff_seconds_sum"+labels, .005+.01+.005+.01+.02+.04)
	check("controller_item_retries_sum"+labels, 2+4)
	check("workqueue_retries_total", 6)

	q.ShutDown()
	workers.Wait()
	metricstest.Take(t, registry).Equal(t, metricstest.Snapshot{})
}
