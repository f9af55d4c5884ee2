package controllers_test

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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// rig is an Observer, a client, and a factory for a separate namespace.
type rig struct {
	*testing.T
	client    kubernetes.Interface
	namespace string
	obs       *collectors.Observer
	registry  *prometheus.Registry
	factory   informers.SharedInformerFactory
}

// newRig returns a rig with a factory that uses the given configuration.
func newRig(t *testing.T, config *rest.Config) *rig {
	r := &rig{T: t, client: kubernetes.NewForConfigOrDie(stacktest.Config(t)), namespace: stacktest.Namespace(t)}
	r.obs, r.registry = observertest.New(t)
	r.factory = informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(r.namespace))
	return r
}

// start runs the informers until the end of the test, and waits for their initial sync.
func (r *rig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.factory.Start(ctx.Done())
	r.Cleanup(func() { cancel(); r.factory.Shutdown() })
	r.factory.WaitForCacheSync(ctx.Done())
}

// work handles the ConfigMaps of the namespace with one worker until the end of the test.
func (r *rig) work(reconcile func(context.Context, string) error) {
	r.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second))
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			q.Add(key)
		}
	}
	if _, err := r.factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
	}); err != nil {
		r.Fatal(err)
	}
	var worker sync.WaitGroup
	worker.Go(func() {
		for key, shutdown := q.Get(); !shutdown; key, shutdown = q.Get() {
			if err := reconcile(context.Background(), key); err != nil {
				q.AddRateLimited(key)
			} else {
				q.Forget(key)
			}
			q.Done(key)
		}
	})
	r.Cleanup(func() { q.ShutDown(); worker.Wait() })
}

// TestFinalizerBlocksADeletion covers S16: a real object is terminating while its cleanup fails and then hangs. It is
// overdue until its cleanup succeeds. After the second success, the object is deleted.
func TestFinalizerBlocksADeletion(t *testing.T) {
	const finalizer, name = "example.com/cleanup", "held"
	r := newRig(t, stacktest.Config(t))
	maps := r.client.CoreV1().ConfigMaps(r.namespace)
	lister := r.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(r.namespace)
	var (
		hangs, release = make(chan struct{}), make(chan struct{})
		attempts       int
	)
	cleanup := controllers.NewFinalizer(r.obs, "c", finalizer, func(context.Context, *corev1.ConfigMap) error {
		switch attempts++; attempts {
		case 1:
			return errors.New("the first attempt fails")
		case 2:
			close(hangs)
			<-release
		}
		return nil
	}, controllers.FinalizerOptions{Deadline: 3 * time.Second})
	refused := false
	r.work(controllers.NewSyncHandler(r.obs, "c", func(ctx context.Context, key string) error {
		_, name, _ := cache.SplitMetaNamespaceKey(key)
		object, err := lister.Get(name)
		if err != nil || object.DeletionTimestamp == nil || !slices.Contains(object.Finalizers, finalizer) {
			return nil
		}
		if err := cleanup(ctx, object); err != nil {
			return err
		}
		if !refused { // the cleanup has succeeded, and is tried again
			refused = true
			return errors.New("removing the finalizer fails the first time")
		}
		_, err = maps.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	}, controllers.Options{MaxWorkers: 1}))
	r.start()

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{finalizer}}}
	if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-hangs
	const labels = "{controller=c,finalizer=" + finalizer
	metricstest.Eventually(t, r.registry, "overdue", func(s metricstest.Snapshot) bool { return s["controller_finalizer_overdue"+labels+"}"] == 1 })
	if held, err := maps.Get(t.Context(), name, metav1.GetOptions{}); err != nil || held.DeletionTimestamp == nil {
		t.Errorf("the object is not terminating: %v, %v", held, err)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{
		"controller_finalizer_attempts_total" + labels + ",result=error}":   1,
		"controller_finalizer_attempts_total" + labels + ",result=success}": 0,
		"controller_active_workers{controller=c}":                           1,
	})
	close(release)
	await.True(t, "the object is deleted", func() bool {
		_, err := maps.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	metricstest.Eventually(t, r.registry, "both attempts are counted", func(s metricstest.Snapshot) bool {
		return s["controller_finalizer_attempts_total"+labels+",result=success}"] == 2 &&
			s["controller_finalizer_overdue"+labels+"}"] == 0 && s["controller_active_workers{controller=c}"] == 0
	})
}
