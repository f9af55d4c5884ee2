package collectors

import (
	"context"
	"testing"
	"time"
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
