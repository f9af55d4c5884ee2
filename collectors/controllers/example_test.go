//go:build !clientgo_before_0_36

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A reconciler of controller-runtime: its types have these fields. The result fits reconcile.Func.
func ExampleNewReconciler() {
	obs, registry := observertest.Example()
	type Request struct{ Namespace, Name string }
	type Result struct{ RequeueAfter time.Duration }

	reconcile := controllers.NewReconciler(obs, "deployments", func(_ context.Context, r Request) (Result, error) {
		if r.Name == "slow" {
			return Result{RequeueAfter: time.Minute}, nil
		}
		return Result{}, nil
	}, controllers.Options{MaxWorkers: 4})

	_, _ = reconcile(context.Background(), Request{"shop", "web"})
	_, _ = reconcile(context.Background(), Request{"shop", "slow"})
	observertest.Print(registry, "controller_reconcile_total", "controller_active_workers", "controller_max_workers")
	// Output:
	// controller_active_workers{controller="deployments"} 0
	// controller_max_workers{controller="deployments"} 4
	// controller_reconcile_total{controller="deployments",result="error"} 0
	// controller_reconcile_total{controller="deployments",result="panic"} 0
	// controller_reconcile_total{controller="deployments",result="requeue_after"} 1
	// controller_reconcile_total{controller="deployments",result="success"} 1
	// controller_reconcile_total{controller="deployments",result="terminal"} 0
}

// A controller on plain client-go.
func ExampleNewSyncHandler() {
	obs, registry := observertest.Example()

	syncHandler := controllers.NewSyncHandler(obs, "deployments", func(_ context.Context, key string) error {
		return nil
	}, controllers.Options{})

	_ = syncHandler(context.Background(), "shop/web")
	observertest.Print(registry, "controller_active_workers")
	// Output:
	// controller_active_workers{controller="deployments"} 0
}

// A controller that gives each owner one Pod, and does not create a second one while the cache lacks the first one.
func ExampleWrites() {
	obs, registry := observertest.Example()
	client := fake.NewClientset()
	pods := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods()
	store, lister := pods.Informer().GetStore(), pods.Lister()
	errStale := errors.New("the cache is stale")

	writes := controllers.NewWrites[string](obs, "owners")
	reconcile := func(ctx context.Context, owner string) error {
		if writes.Behind(owner, store) {
			return errStale // retry
		}
		if _, err := lister.Pods("shop").Get(owner); err == nil {
			return nil
		}
		created, err := client.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: owner, ResourceVersion: "42", // an API server sets it
		}}, metav1.CreateOptions{})
		if err == nil {
			writes.Wrote(owner, created)
		}
		return err
	}

	store.Bookmark("41") // the cache has synced, without the Pod
	_ = reconcile(context.Background(), "web")
	_ = reconcile(context.Background(), "web")
	observertest.Print(registry, "controller_stale_reads_total")
	// Output:
	// controller_stale_reads_total{controller="owners"} 1
}

// A cleanup before a finalizer is removed.
func ExampleNewFinalizer() {
	obs, registry := observertest.Example()
	const finalizer = "example.com/bucket"

	cleanup := controllers.NewFinalizer(obs, "buckets", finalizer, func(context.Context, *corev1.ConfigMap) error {
		return nil
	}, controllers.FinalizerOptions{Deadline: 5 * time.Minute})
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
	observertest.Print(registry, "controller_finalizer_attempts_total", "controller_finalizer_overdue")
	// Output:
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="error"} 0
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="success"} 1
	// controller_finalizer_attempts_total{controller="buckets",finalizer="example.com/bucket",result="timeout"} 0
	// controller_finalizer_overdue{controller="buckets",finalizer="example.com/bucket"} 0
}

// A rollback of a cleanup that failed halfway.
func ExampleNewRollback() {
	obs, _ := observertest.Example()
	const finalizer = "example.com/bucket"

	cleanup := controllers.NewFinalizer(obs, "buckets", finalizer, func(context.Context, *corev1.ConfigMap) error {
		return errors.New("the second half failed")
	}, controllers.FinalizerOptions{})
	rollback := controllers.NewRollback(obs, "buckets", finalizer, func(context.Context, *corev1.ConfigMap) error {
		return nil
	})

	ctx, bucket := context.Background(), &corev1.ConfigMap{}
	if err := cleanup(ctx, bucket); err != nil {
		fmt.Println(err, rollback(ctx, bucket))
	}
	// Output:
	// the second half failed <nil>
}

// A step of a shutdown with a deadline. examples/controller has all steps, in their order.
func ExampleNewShutdownStep() {
	obs, err := collectors.New(prometheus.NewRegistry(), collectors.Options{
		Name: "my-controller", Logger: slog.New(slog.DiscardHandler), // the default logs each step
	})
	if err != nil {
		panic(err)
	}
	drain := controllers.NewShutdownStep(obs, "pods", controllers.DrainWorkers, func(ctx context.Context) error {
		<-ctx.Done() // a worker hangs
		return ctx.Err()
	})

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(drain(ctx))
	// Output:
	// context deadline exceeded
}

// A controller that ends before its program, such as one per tenant.
func ExampleForget() {
	obs, registry := observertest.Example()

	controllers.NewSyncHandler(obs, "tenant-7", func(context.Context, string) error { return nil }, controllers.Options{})
	observertest.Print(registry, "controller_active_workers")

	controllers.Forget(obs, "tenant-7")
	observertest.Print(registry, "controller_active_workers")
	// Output:
	// controller_active_workers{controller="tenant-7"} 0
}
