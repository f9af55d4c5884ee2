package collectors_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// A reconciler of controller-runtime, whose types have these fields. What is returned fits reconcile.Func.
func ExampleReconciler() {
	registry, obs := newObserver()
	type Request struct{ Namespace, Name string }
	type Result struct{ RequeueAfter time.Duration }

	reconcile := collectors.Reconciler(obs, "deployments", func(_ context.Context, r Request) (Result, error) {
		if r.Name == "slow" {
			return Result{RequeueAfter: time.Minute}, nil
		}
		return Result{}, nil
	}, collectors.ReconcilerOptions{MaxWorkers: 4})

	_, _ = reconcile(context.Background(), Request{"shop", "web"})
	_, _ = reconcile(context.Background(), Request{"shop", "slow"})
	show(registry, "controller_reconcile_total", "controller_active_workers", "controller_max_workers")
	// Output:
	// controller_active_workers{controller="deployments"} 0
	// controller_max_workers{controller="deployments"} 4
	// controller_reconcile_total{controller="deployments",result="error"} 0
	// controller_reconcile_total{controller="deployments",result="panic"} 0
	// controller_reconcile_total{controller="deployments",result="requeue"} 0
	// controller_reconcile_total{controller="deployments",result="requeue_after"} 1
	// controller_reconcile_total{controller="deployments",result="success"} 1
	// controller_reconcile_total{controller="deployments",result="terminal"} 0
}

// A controller that is built with client-go alone.
func ExampleSyncHandler() {
	registry, obs := newObserver()

	syncHandler := collectors.SyncHandler(obs, "deployments", func(_ context.Context, key string) error {
		return nil
	})

	_ = syncHandler(context.Background(), "shop/web")
	show(registry, "controller_active_workers")
	// Output:
	// controller_active_workers{controller="deployments"} 0
}

// A controller that gives each owner one Pod, and does not make a second one when it reads the cache before the first
// one is there.
func ExampleWrites() {
	registry, obs := newObserver()
	client := fake.NewClientset()
	pods := obs.SharedInformerFactory(client, 0, collectors.FactoryOptions{}).Core().V1().Pods()
	store, lister := pods.Informer().GetStore(), pods.Lister()
	errStale := errors.New("the cache trails what was written")

	writes := collectors.NewWrites[string](obs, "owners")
	reconcile := func(ctx context.Context, owner string) error {
		if writes.Behind(owner, store) {
			return errStale // to come back
		}
		if _, err := lister.Pods("shop").Get(owner); err == nil {
			return nil
		}
		made, err := client.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: owner, ResourceVersion: "42", // as the API server sets it
		}}, metav1.CreateOptions{})
		if err == nil {
			writes.Wrote(owner, made)
		}
		return err
	}

	store.Bookmark("41") // the cache is there, and does not have the Pod yet
	_ = reconcile(context.Background(), "web")
	_ = reconcile(context.Background(), "web")
	show(registry, "controller_stale_reads_total")
	// Output:
	// controller_stale_reads_total{controller="owners"} 1
}

// A clean-up before a finalizer is removed.
func ExampleFinalizer() {
	registry, obs := newObserver()
	const finalizer = "example.com/bucket"

	cleanup := collectors.Finalizer(obs, "buckets", finalizer, 5*time.Minute, func(context.Context, *corev1.ConfigMap) error {
		return nil
	})
	reconcile := func(ctx context.Context, bucket *corev1.ConfigMap) error {
		if bucket.DeletionTimestamp == nil || !slices.Contains(bucket.Finalizers, finalizer) {
			return nil
		}
		if err := cleanup(ctx, bucket); err != nil {
			return err
		}
		return nil // and remove the finalizer
	}

	now := metav1.Now()
	_ = reconcile(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		UID: "1", DeletionTimestamp: &now, Finalizers: []string{finalizer},
	}})
	show(registry, "controller_finalizer_attempts_total", "controller_finalizer_overdue")
	// Output:
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="error"} 0
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="panic"} 0
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="success"} 1
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="timeout"} 0
	// controller_finalizer_overdue{controller="buckets",finalizer="example.com/bucket"} 0
}

// What undoes a clean-up that got half way.
func ExampleFinalizerRollback() {
	_, obs := newObserver()
	const finalizer = "example.com/bucket"

	cleanup := collectors.Finalizer(obs, "buckets", finalizer, 5*time.Minute, func(context.Context, *corev1.ConfigMap) error {
		return errors.New("the second half has failed")
	})
	rollback := collectors.FinalizerRollback(obs, "buckets", finalizer, func(context.Context, *corev1.ConfigMap) error {
		return nil
	})

	ctx, bucket := context.Background(), &corev1.ConfigMap{}
	if err := cleanup(ctx, bucket); err != nil {
		_ = rollback(ctx, bucket)
	}
	// Output:
}

// The end of a program with a controller, after the signal to terminate.
func ExampleObserver_ShutdownController() {
	_, obs := newObserver()
	ctx, terminate := context.WithCancel(context.Background()) // signal.NotifyContext

	factory := obs.SharedInformerFactory(fake.NewClientset(), 0, collectors.FactoryOptions{})
	factory.Core().V1().Pods().Informer()
	informers, stopInformers := context.WithCancel(context.WithoutCancel(ctx)) // they outlive the signal
	factory.StartWithContext(informers)

	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	var workers sync.WaitGroup
	workers.Go(func() {
		for key, shutdown := queue.Get(); !shutdown; key, shutdown = queue.Get() {
			queue.Done(key)
		}
	})

	terminate()
	<-ctx.Done()
	err := obs.ShutdownController(ctx, "pods", collectors.ShutdownSteps{
		StopIntake:    func(context.Context) error { queue.ShutDown(); return nil },
		DrainWorkers:  func(context.Context) error { workers.Wait(); return nil },
		StopInformers: func(context.Context) error { stopInformers(); factory.Shutdown(); return nil },
		// ReleaseLock ends the context of the leader elector, and waits for its Run.
	})
	if err != nil {
		panic(err)
	}
	// Output:
}

// A controller that is made and ended while the program goes on, one for each tenant for example.
func ExampleObserver_ForgetController() {
	registry, obs := newObserver()

	collectors.SyncHandler(obs, "tenant-7", func(context.Context, string) error { return nil })
	show(registry, "controller_active_workers")

	obs.ForgetController("tenant-7")
	show(registry, "controller_active_workers")
	// Output:
	// controller_active_workers{controller="tenant-7"} 0
}
