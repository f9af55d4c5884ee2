package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestStress is for the race detector: concurrent scrapes, reads, events, faults, and added and removed handlers, on an informer
// that is then stopped. No series is left.
func TestStress(t *testing.T) {
	t.Parallel()
	const lasts = 10 * time.Second
	r := newRig(t, options{resync: time.Second})
	r.handle("stays", cache.ResourceEventHandlerFuncs{})
	r.startBusy()
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var workers sync.WaitGroup
	until := func(work func(n int)) {
		workers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				work(n)
			}
		})
	}
	for range 2 {
		until(func(int) { // scrapes
			if _, err := r.registry.Gather(); err != nil {
				t.Error(err)
			}
		})
		until(func(n int) { // reads
			_, _, _ = r.informer.GetStore().GetByKey(fmt.Sprint(r.namespace, "/object-", n%10))
			_ = r.informer.GetStore().ListKeys()
		})
	}
	until(func(n int) { // events
		name := fmt.Sprint("object-", n)
		r.createWith(name, map[string]string{"some": "data"})
		r.update(name, "other")
		r.delete(name)
	})
	until(func(n int) { // handlers
		name := fmt.Sprint("comes-and-goes-", n%3)
		registration := r.handle(name, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		}})
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		r.remove(name, registration)
	})
	until(func(n int) { // faults
		r.proxy.Reset()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	})
	<-ctx.Done()
	workers.Wait()
	// The last events may still be in flight, although nothing is pending and the store has the reported size.
	r.waitFor("the initial state", func(s metricstest.Snapshot) bool {
		return s[objects] == 1 && len(r.informer.GetStore().ListKeys()) == 1 && s[prefix+"handlers"] == 1 &&
			s[prefix+"handler_pending_events{handler=stays}"] == 0 && isConnected(s) && s[syncLag] == 0
	})
	scraping := make(chan struct{})
	go func() {
		defer close(scraping)
		for range 100 {
			if _, err := r.registry.Gather(); err != nil {
				t.Error(err)
			}
		}
	}()
	r.stop()
	<-scraping
	if s := r.now(); len(s) != 0 {
		t.Errorf("a stopped informer leaves series:\n%s", s)
	}
}
