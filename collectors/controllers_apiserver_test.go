package collectors_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// worker makes a controller of a reconcile function: a queue that a handler fills, and one worker.
type worker struct {
	queue    workqueue.TypedRateLimitingInterface[string]
	handler  cache.ResourceEventHandlerRegistration
	informer cache.SharedIndexInformer
	running  sync.WaitGroup
}

func newWorker(r *rig, reconcile func(context.Context, string) error) *worker {
	r.Helper()
	w := &worker{
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)),
		informer: r.factory.Core().V1().ConfigMaps().Informer(),
	}
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			w.queue.Add(key)
		}
	}
	var err error
	if w.handler, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
	}); err != nil {
		r.Fatal(err)
	}
	w.running.Go(func() {
		for {
			key, shutdown := w.queue.Get()
			if shutdown {
				return
			}
			if err := reconcile(context.Background(), key); err != nil {
				w.queue.AddRateLimited(key)
			} else {
				w.queue.Forget(key)
			}
			w.queue.Done(key)
		}
	})
	return w
}

// TestFinalizerHoldsADeletion covers S16: a real object stays in deletion while its clean-up fails and then hangs, which
// shows as overdue, and goes when the clean-up succeeds, the second time for good.
func TestFinalizerHoldsADeletion(t *testing.T) {
	const finalizer, name = "example.com/cleanup", "held"
	r := newRig(t, stacktest.Config(t))
	maps := r.client.CoreV1().ConfigMaps(r.namespace)
	lister := r.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(r.namespace)
	var (
		hangs, release = make(chan struct{}), make(chan struct{})
		attempts       int
	)
	cleanup := collectors.Finalizer(r.obs, "c", finalizer, 50*time.Millisecond, func(context.Context, *corev1.ConfigMap) error {
		switch attempts++; attempts {
		case 1:
			return errors.New("the first attempt fails")
		case 2:
			close(hangs)
			<-release
		}
		return nil
	})
	refused := false
	w := newWorker(r, collectors.SyncHandler(r.obs, "c", func(ctx context.Context, key string) error {
		_, name, _ := cache.SplitMetaNamespaceKey(key)
		object, err := lister.Get(name)
		if err != nil || object.DeletionTimestamp == nil || !slices.Contains(object.Finalizers, finalizer) {
			return nil
		}
		if err := cleanup(ctx, object); err != nil {
			return err
		}
		if !refused { // the clean-up has succeeded, and is made again
			refused = true
			return errors.New("removing the finalizer fails the first time")
		}
		_, err = maps.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	}, collectors.ReconcilerOptions{MaxWorkers: 1}))
	t.Cleanup(func() { w.queue.ShutDown(); w.running.Wait() })
	r.start()
	r.waitFor("synced", synced)

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}}}
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-hangs
	const labels = "{controller=c,finalizer=" + finalizer
	r.waitFor("overdue", func(s metricstest.Snapshot) bool { return s["controller_finalizer_overdue"+labels+"}"] == 1 })
	if held, err := maps.Get(t.Context(), name, metav1.GetOptions{}); err != nil || held.DeletionTimestamp == nil {
		t.Errorf("the object is not held in deletion: %v, %v", held, err)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{
		"controller_finalizer_attempts_total" + labels + ",result=error}":   1,
		"controller_finalizer_attempts_total" + labels + ",result=success}": 0,
		"controller_active_workers{controller=c}":                           1,
	})
	close(release)
	r.waitFor("gone", func(metricstest.Snapshot) bool {
		_, err := maps.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	r.waitFor("counted", func(s metricstest.Snapshot) bool {
		return s["controller_finalizer_attempts_total"+labels+",result=success}"] == 2 &&
			s["controller_finalizer_overdue"+labels+"}"] == 0 && s["controller_active_workers{controller=c}"] == 0
	})
}

func check(t *testing.T, s, want metricstest.Snapshot) {
	t.Helper()
	for series, value := range want {
		if got, ok := s[series]; got != value || !ok {
			t.Errorf("%s = %v (exists: %t), want %v", series, got, ok, value)
		}
	}
}
