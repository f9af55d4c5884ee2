package queue

import (
	"fmt"
	"sync"
	"testing"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Items are found while workers take them, and an item that was taken is not kept in memory after its Done.
func TestFindAmongWorkers(t *testing.T) {
	obs, _ := observertest.New(t)
	for name, order := range map[string]workqueue.Queue[string]{"fifo": nil, "custom": workqueue.DefaultQueue[string]()} {
		t.Run(name, func(t *testing.T) {
			q := NewTypedRateLimitingQueue(obs, name, workqueue.DefaultTypedControllerRateLimiter[string](), Options[string]{Order: order})
			var workers sync.WaitGroup
			const items = 5000
			for range 3 {
				workers.Go(func() {
					for {
						item, shutdown := q.Get()
						if shutdown {
							return
						}
						q.Done(item)
					}
				})
			}
			workers.Go(func() {
				for i := range items {
					q.Add(fmt.Sprint(i))
				}
			})
			for i := range 200 {
				q.layers.find(fmt.Sprint(i * items / 200))
			}
			q.ShutDownWithDrain()
			workers.Wait()
			if f, ok := q.layers.ready.order.(*fifo[string]); ok {
				for _, s := range f.ring.slots {
					if s.item != "" {
						t.Fatalf("%q is kept", s.item)
					}
				}
			}
		})
	}
	q := NewTypedRateLimitingQueue(obs, "idle", workqueue.DefaultTypedControllerRateLimiter[string](), Options[string]{})
	for _, item := range []string{"a", "b"} {
		q.Add(item)
	}
	taken, _ := q.Get()
	if _, ready, _ := q.layers.find(taken); ready {
		t.Errorf("%q is ready although it was taken", taken)
	}
	if _, ready, _ := q.layers.find("b"); !ready {
		t.Error("b is not ready")
	}
	q.Done(taken)
	q.ShutDown()
}
