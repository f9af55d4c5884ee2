package queue

import (
	"testing"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestExpectedArrivals: adds without a delay do not end the delay of the same item, regardless of how many are in progress.
func TestExpectedArrivals(t *testing.T) {
	var m delayedItems[string]
	m.delay("a")
	m.delay("a")
	m.expect("a")
	m.expect("a")
	for range 2 {
		if m.arrive("a") || m.len() != 1 {
			t.Fatalf("an add without a delay ended the delay of the item: %d items are delayed", m.len())
		}
	}
	if !m.arrive("a") || m.len() != 0 {
		t.Errorf("%d items are delayed after the delay", m.len())
	}
	if m.arrive("a") {
		t.Error("an unknown item has been removed")
	}
	if n := len(m.expected); n > 0 {
		t.Errorf("%d items remain in memory after their arrival", n)
	}
}

// An item that becomes due while the queue shuts down is not added, and still counts as remaining.
func TestRefusedArrival(t *testing.T) {
	obs, _ := observertest.New(t)
	q := NewTypedRateLimitingQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[string](), Options[string]{})
	due := dueQueue[string]{q.layers.ready, q.layers.delaying.mirror}
	due.mirror.delay("a")
	q.ShutDown()
	for _, item := range []string{"a", "without a delay"} {
		due.Add(item)
		if n := q.Remaining(); n != 1 {
			t.Errorf("%d items remain after %s, want 1", n, item)
		}
	}
}
