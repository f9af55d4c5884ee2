package collectors

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestLastResync: the time of a resync is when it was, and stays that.
func TestLastResync(t *testing.T) {
	obs, _ := newObserver(t)
	inf := unwrap(obs.NewSharedIndexInformer(pods, newFakeServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
	addHandler(t, inf, cache.ResourceEventHandlerFuncs{})
	h := inf.informer.currentHandlers()[0]
	last := func() time.Time { return obs.Informers()[0].Handlers[0].LastResync }
	if !last().IsZero() {
		t.Errorf("%v before the first resync", last())
	}
	p := pod("a", 1)
	begin := time.Now()
	h.OnUpdate(p, p)
	end := time.Now()
	at := last()
	if at.Before(begin.Round(0)) || at.After(end.Round(0)) {
		t.Errorf("%v, want between %v and %v", at, begin, end)
	}
	for range 1000 {
		if again := last(); !again.Equal(at) {
			t.Fatalf("%v became %v", at, again)
		}
	}
}
