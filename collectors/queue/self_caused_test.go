package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The event of a controller's own write causes a reconcile, whichever method adds the item.
func TestSelfCausedByEachMethod(t *testing.T) {
	for name, add := range map[string]func(q *Queue[string], tr *Tracker[string]){
		"Add": func(q *Queue[string], tr *Tracker[string]) {
			q.Add("k")
			tr.Add("k", 0)
		},
		"AddAfter": func(q *Queue[string], tr *Tracker[string]) {
			q.AddAfter("k", time.Second)
			tr.Add("k", time.Second)
		},
		"AddRateLimited": func(q *Queue[string], tr *Tracker[string]) {
			q.AddRateLimited("k")
			tr.AddRateLimited("k")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, registry := observertest.New(t)
				q := NewTypedRateLimitingQueue(obs, "queue", workqueue.DefaultTypedControllerRateLimiter[string](), Options[string]{})
				defer q.ShutDown()
				tr := NewTracker[string](obs, "tracker", TrackerOptions{})
				defer tr.End()
				for version, controller := range map[uint64]string{1: "queue", 2: "tracker"} {
					deliverOwnWrite(core.Of(obs), controller, version, func() { add(q, tr) })
					item, _ := q.Get()
					q.Done(item)
					tr.Get("k")
					tr.Done("k")
				}
				for _, series := range []string{"controller_self_caused_reconciles_total{controller=queue}", "controller_self_caused_reconciles_total{controller=tracker}"} {
					if got := metricstest.Take(t, registry)[series]; got != 1 {
						t.Errorf("%s is %v, want 1", series, got)
					}
				}
			})
		})
	}
}

// deliverOwnWrite calls an event handler with the event of a controller's write, after its response.
func deliverOwnWrite(o *core.Observer, controller string, version uint64, handle func()) {
	watches := echo.Of(o)
	watches.ReportWrites()
	w := echo.New(ring.New(16))
	watches.Add(schema.GroupResource{Resource: "pods"}, "", w)
	by := echo.WriterOf(watches.Writer(controller).Context(context.Background()))
	pending := watches.Sending(by, "", "pods")
	watches.Wrote(&echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Version: version, Sent: 1, Answered: 2, By: by})
	pending.Answered()
	handler := watches.Handler()
	if handler.Deliver(w, version) {
		defer handler.Delivered()
	}
	handle()
}
