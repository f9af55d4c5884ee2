package collectors

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkReconciler measures what the decorator adds to a reconcile function. The budget is 200 ns and no allocation.
func BenchmarkReconciler(b *testing.B) {
	type request struct{ namespace, name string }
	type result struct {
		Requeue      bool
		RequeueAfter time.Duration
	}
	reconcile := func(context.Context, request) (result, error) { return result{}, nil }
	obs, _ := newObserver(b)
	run := func(reconcile func(context.Context, request) (result, error)) workload {
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
	ratio(b, 20_000, run(reconcile), run(Reconciler(obs, "benchmark", reconcile, ReconcilerOptions{MaxWorkers: 1})))
}

// BenchmarkFinalizer measures what the decorator adds to an attempt to clean up. The budget is a microsecond.
func BenchmarkFinalizer(b *testing.B) {
	cleanup := func(context.Context, *corev1.Pod) error { return nil }
	obs, _ := newObserver(b)
	run := func(cleanup func(context.Context, *corev1.Pod) error) workload {
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
	ratio(b, 20_000, run(cleanup), run(Finalizer(obs, "benchmark", testFinalizer, testDeadline, cleanup)))
}

// BenchmarkStaleReads measures what it costs to ask before a read, while a write is not seen yet and without one. No
// allocation is in the budget.
func BenchmarkStaleReads(b *testing.B) {
	obs, _ := newObserver(b)
	w := NewWrites[string](obs, "benchmark")
	w.Wrote("written", at("10"))
	store := storeVersion("9")
	run := func(ask func()) workload {
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
			ratio(b, 20_000, run(func() { _ = store.LastStoreSyncResourceVersion() }), run(func() { w.Behind(key, &store) }))
		})
	}
}
