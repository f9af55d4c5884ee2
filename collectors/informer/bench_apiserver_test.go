package informer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkAPIServer compares the rate of events from a real API server to a handler. The budget is 0.98 of the rate
// without decorators, which is a ratio of 1.02.
func BenchmarkAPIServer(b *testing.B) {
	const objects, rounds = 100, 100
	client := kubernetes.NewForConfigOrDie(stacktest.Config(b))
	maps := client.CoreV1().ConfigMaps(stacktest.Namespace(b))
	before, err := maps.List(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range objects {
		writers.Go(func() {
			name := fmt.Sprint("object-", i)
			if _, err := maps.Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				b.Error(err)
			}
			for round := range rounds - 1 {
				change := fmt.Appendf(nil, `{"data":{"round":"%d"}}`, round)
				if _, err := maps.Patch(b.Context(), name, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	writers.Wait()
	// The informer starts at an earlier version, so that the server sends the history as fast as the informer reads it.
	history := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return before, nil },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, errTest // list first
			}
			return maps.Watch(ctx, o)
		},
	}
	run := func(newInformer func() cache.SharedIndexInformer) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			inf := newInformer()
			var handled sync.WaitGroup
			handled.Add(n)
			if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { handled.Done() },
				UpdateFunc: func(any, any) { handled.Done() },
			}); err != nil {
				b.Fatal(err)
			}
			begin := time.Now()
			stop := start(b, inf)
			handled.Wait()
			took := time.Since(begin)
			stop()
			return took
		}
	}
	obs, _ := observertest.New(b)
	budget.Ratio(b, objects*rounds,
		run(func() cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(history, &corev1.ConfigMap{}, 0, cache.Indexers{})
		}),
		run(func() cache.SharedIndexInformer {
			return informer.NewSharedIndexInformer(obs, informer.ID{Resource: "configmaps"}, history, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		}),
	)
}
