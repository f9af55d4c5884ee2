package informer_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The reported periods are those at which client-go calls the handlers (P4, P10, O6, O8).
func TestResyncPeriods(t *testing.T) {
	const none = -1 // uses the informer's default
	for _, c := range []struct {
		informer     time.Duration
		before, late []time.Duration
		want         []time.Duration
	}{
		{0, []time.Duration{none, time.Minute}, []time.Duration{time.Minute}, []time.Duration{0, 0, 0}},
		{time.Hour, []time.Duration{none, 0}, []time.Duration{none, 0}, []time.Duration{time.Hour, 0, time.Hour, 0}},
		{time.Hour, nil, []time.Duration{time.Minute}, []time.Duration{time.Hour}},
		{
			time.Hour, []time.Duration{10 * time.Minute, none}, []time.Duration{time.Minute, 30 * time.Minute},
			[]time.Duration{10 * time.Minute, time.Hour, 10 * time.Minute, 30 * time.Minute},
		},
		{time.Millisecond, []time.Duration{none, time.Nanosecond}, []time.Duration{time.Millisecond}, []time.Duration{time.Second, time.Second, time.Second}},
	} {
		t.Run(fmt.Sprint(c.informer), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
				inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: c.informer})
				resyncs := make([]atomic.Int64, len(c.want))
				added := 0
				add := func(periods []time.Duration) {
					for _, period := range periods {
						count := &resyncs[added]
						var options cache.HandlerOptions
						if period != none {
							options.ResyncPeriod = &period
						}
						h := informer.NamedHandler(fmt.Sprint(added), cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { count.Add(1) }})
						if _, err := inf.AddEventHandlerWithOptions(h, options); err != nil {
							t.Fatal(err)
						}
						added++
					}
				}
				add(c.before)
				stop := start(t, inf)
				synctest.Wait()
				add(c.late)
				lasting := 12*slices.Max(c.want) + time.Millisecond
				time.Sleep(lasting)
				synctest.Wait()
				s := metricstest.Take(t, reg)
				for i, want := range c.want {
					check(t, s, metricstest.Snapshot{
						fmt.Sprintf("k8s_informer_handler_resync_period_seconds{handler=%d}", i): want.Seconds(),
					})
					var due int64
					if want > 0 {
						due = int64(lasting / want)
					}
					if n := resyncs[i].Load(); n != due {
						t.Errorf("handler %d was called %d times, want %d", i, n, due)
					}
				}
				stop()
			})
		})
	}
}

// The default period of an existing informer is unknown.
func TestResyncPeriodsOfAnInformerThatExists(t *testing.T) {
	obs, reg := observertest.New(t)
	inf := observertest.Keep(t, informer.Wrap(obs, pods, cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, time.Hour, cache.Indexers{})))
	addHandler(t, inf, informer.NamedHandler("default", cache.ResourceEventHandlerFuncs{}))
	for name, period := range map[string]time.Duration{"minute": time.Minute, "never": 0} {
		if _, err := inf.AddEventHandlerWithResyncPeriod(informer.NamedHandler(name, cache.ResourceEventHandlerFuncs{}), period); err != nil {
			t.Fatal(err)
		}
	}
	s := metricstest.Take(t, reg)
	check(t, s, metricstest.Snapshot{
		"k8s_informer_handler_resync_period_seconds{handler=minute}": 60,
		"k8s_informer_handler_resync_period_seconds{handler=never}":  0,
		"k8s_informer_handler_pending_events{handler=default}":       0,
	})
	if period, ok := s["k8s_informer_handler_resync_period_seconds{handler=default}"]; ok {
		t.Errorf("a period of %v is reported, although it is unknown", period)
	}
}
