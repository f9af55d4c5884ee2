package controllers_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkReconciler measures what the decorator adds to a reconcile function. The budget is 200 ns and no allocation.
func BenchmarkReconciler(b *testing.B) {
	type request struct{ Namespace, Name string }
	type result struct {
		Requeue      bool
		RequeueAfter time.Duration
	}
	reconcile := func(context.Context, request) (result, error) { return result{}, nil }
	obs, _ := observertest.New(b)
	run := func(reconcile func(context.Context, request) (result, error)) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			ctx := b.Context()
			begin := time.Now()
			for range n {
				if _, err := reconcile(ctx, request{"default", "a"}); err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 20_000, run(reconcile), run(controllers.NewReconciler(obs, "benchmark", reconcile, controllers.Options{MaxWorkers: 1})))
}

// BenchmarkFinalizer measures what the decorator adds to a cleanup. There is no budget.
func BenchmarkFinalizer(b *testing.B) {
	cleanup := func(context.Context, *corev1.Pod) error { return nil }
	obs, _ := observertest.New(b)
	run := func(cleanup func(context.Context, *corev1.Pod) error) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			ctx, object := b.Context(), deleted("a")
			begin := time.Now()
			for range n {
				if err := cleanup(ctx, object); err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 20_000, run(cleanup), run(controllers.NewFinalizer(obs, "benchmark", testFinalizer, cleanup, controllers.FinalizerOptions{Deadline: testDeadline})))
}

// BenchmarkStaleReads measures Writes.Behind, with a write that the store has not reached and without one. There is no budget.
func BenchmarkStaleReads(b *testing.B) {
	obs, _ := observertest.New(b)
	w := controllers.NewWrites[string](obs, "benchmark")
	w.Wrote("written", at("10"))
	store := storeVersion("9")
	run := func(ask func()) budget.Workload {
		return func(_ *testing.B, n int) time.Duration {
			begin := time.Now()
			for range n {
				ask()
			}
			return time.Since(begin)
		}
	}
	for name, key := range map[string]string{"Written": "written", "NotWritten": "not written"} {
		b.Run(name, func(b *testing.B) {
			budget.Ratio(b, 20_000, run(func() { _ = store.LastStoreSyncResourceVersion() }), run(func() { w.Behind(key, &store) }))
		})
	}
}
