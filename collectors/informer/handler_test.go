package informer_test

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// slow is a handler that takes a second for each call.
var slow = informer.NamedHandler("slow", cache.ResourceEventHandlerFuncs{
	AddFunc:    func(any) { time.Sleep(time.Second) },
	UpdateFunc: func(any, any) { time.Sleep(time.Second) },
	DeleteFunc: func(any) { time.Sleep(time.Second) },
})

func addHandler(t *testing.T, inf cache.SharedInformer, h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := inf.AddEventHandler(h)
	if err != nil {
		t.Fatal(err)
	}
	return registration
}

// check compares some series.
func check(t *testing.T, s, want metricstest.Snapshot) {
	t.Helper()
	s.Contains(t, want)
}

// Events wait for a slow handler, and their lag is reported during the wait and afterwards (S3, S5, S18).
func TestEventLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		time.Sleep(500 * time.Millisecond)
		// The object of the list is being handled: it counts from the end of the list.
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_handler_pending_events{handler=slow}": 1, "k8s_informer_sync_lag_seconds": .5,
		})
		time.Sleep(time.Second)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_handler_pending_events{handler=slow}": 0, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_event_lag_seconds_count": 0, "k8s_informer_handler_duration_seconds_count{handler=slow}": 1,
		})
		before := metricstest.Take(t, reg)
		stream.Send(watch.Added, fakeapi.Pod("b", 11))
		stream.Send(watch.Modified, fakeapi.Pod("a", 12))
		stream.Send(watch.Bookmark, fakeapi.Bookmark(13))
		stream.Send(watch.Deleted, fakeapi.Pod("b", 14))
		time.Sleep(1500 * time.Millisecond)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_handler_pending_events{handler=slow}": 2, "k8s_informer_sync_lag_seconds": 1.5,
		})
		time.Sleep(2 * time.Second)
		after := metricstest.Take(t, reg)
		after.Since(before, "k8s_informer_last_event").Equal(t, metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_count":                      3,
			"k8s_informer_resource_version{stage=received}":             4,
			"k8s_informer_resource_version{stage=stored}":               4,
			"k8s_informer_resource_version{stage=handled}":              14,
			"k8s_informer_handler_duration_seconds_count{handler=slow}": 3,
			"k8s_informer_watch_events_total{type=added}":               1,
			"k8s_informer_watch_events_total{type=modified}":            1,
			"k8s_informer_watch_events_total{type=deleted}":             1,
			"k8s_informer_watch_events_total{type=bookmark}":            1,
		})
		check(t, after, metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_sum": 1 + 2 + 3, "k8s_informer_objects": 1,
			"k8s_informer_handler_pending_events{handler=slow}": 0, "k8s_informer_sync_lag_seconds": 0,
		})
		stop()
	})
}

// Resyncs and unchanged objects are calls, but not events of the API server. The time of the last resync is a metric (P6).
func TestResyncsHaveNoEventLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
		addHandler(t, inf, slow)
		stop := start(t, inf)
		time.Sleep(30 * time.Second)
		before := metricstest.Take(t, reg)
		time.Sleep(time.Minute)
		after := metricstest.Take(t, reg)
		after.Since(before, "k8s_informer_handler_last_resync").Equal(t, metricstest.Snapshot{
			"k8s_informer_handler_duration_seconds_count{handler=slow}": 1,
			"k8s_informer_unchanged_updates_total{cause=resync}":        1,
		})
		if ago := float64(time.Now().Unix()) - after["k8s_informer_handler_last_resync_timestamp_seconds{handler=slow}"]; ago != 30 {
			t.Errorf("the last resync was %v s ago, want 30", ago)
		}
		stop()
	})
}

// A handler that is added late gets the objects from the store. They are pending since its registration, not since their receipt,
// and are no events.
func TestLateHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("b", 11))
		time.Sleep(time.Hour)
		registration := addHandler(t, inf, slow)
		time.Sleep(1500 * time.Millisecond)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_sync_lag_seconds": 1.5})
		time.Sleep(10 * time.Second)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_handlers": 1, "k8s_informer_handler_pending_events{handler=slow}": 0,
			"k8s_informer_handler_resync_period_seconds{handler=slow}": 0, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_event_lag_seconds_count": 0, "k8s_informer_handler_duration_seconds_count{handler=slow}": 2,
		})
		if err := inf.RemoveEventHandler(registration); err != nil {
			t.Fatal(err)
		}
		s := metricstest.Take(t, reg)
		check(t, s, metricstest.Snapshot{"k8s_informer_handlers": 0})
		if _, ok := s["k8s_informer_handler_duration_seconds_count{handler=slow}"]; ok {
			t.Error("the series of a removed handler are still there")
		}
		stop()
	})
}

// An object without a watch event comes from the list if its version is at most that of the list. It is pending meanwhile, and is
// no event afterwards.
func TestVersionOfTheList(t *testing.T) {
	for version, pending := range map[int]float64{19: 1, 20: 1, 21: 0} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(20), nil }
			lw := informer.NewListerWatcher(obs, pods, server)
			h := lw.Decorate("h", cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_handler_pending_events{handler=h}": pending})
			}})
			if _, err := lw.List(metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			h.OnAdd(fakeapi.Pod("a", version), false)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{
				"k8s_informer_event_lag_seconds_count": 0, "k8s_informer_handler_duration_seconds_count{handler=h}": 1,
			})
		})
	}
}

// After an overrun the lag is a lower bound and the events are counted as unmeasured, not as lost (S19).
func TestOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t, func(o *collectors.Options) { o.RememberedEvents = 8 })
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		for v := 2; v < 22; v++ {
			stream.Send(watch.Modified, fakeapi.Pod("a", v))
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		s := metricstest.Take(t, reg)
		check(t, s, metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_count": 20, "k8s_informer_handler_pending_events{handler=slow}": 0,
		})
		// The first event was being handled before the others arrived. Of those, 7 are remembered.
		if lost := s["k8s_informer_unmeasured_events_total"]; lost < 12 || lost > 13 {
			t.Errorf("lost %v of 20 events with room for 7", lost)
		}
		stop()
	})
}

// The lag of an informer with a blocked handler grows, however many events follow the one that blocks it: also when the handler was
// overtaken before.
func TestBlockedHandlerOnABusyInformer(t *testing.T) {
	for name, handled := range map[string]int{"from the first event": 0, "overtaken before": 5} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t, func(o *collectors.Options) { o.RememberedEvents = 8 })
				server := fakeapi.NewServer()
				inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
				proceed := make(chan struct{})
				addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{
					AddFunc:    func(any) { <-proceed },
					UpdateFunc: func(any, any) { <-proceed },
				}))
				stop := start(t, inf)
				stream := <-server.Streams
				send := func(from, to int) {
					for v := from; v < to; v++ {
						stream.Send(watch.Modified, fakeapi.Pod("a", v))
						synctest.Wait()
						time.Sleep(100 * time.Millisecond)
					}
				}
				send(2, 40)
				for range handled {
					proceed <- struct{}{}
				}
				synctest.Wait()
				before := metricstest.Take(t, reg)
				send(40, 340) // half a minute
				s := metricstest.Take(t, reg)
				if lag := s["k8s_informer_sync_lag_seconds"]; lag < 30 {
					t.Errorf("half a minute later, the lag is %v s", lag)
				}
				if grew := s["k8s_informer_handler_pending_events{handler=h}"] - before["k8s_informer_handler_pending_events{handler=h}"]; grew != 300 {
					t.Errorf("%v more events are pending, want 300", grew)
				}
				close(proceed)
				synctest.Wait()
				check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_sync_lag_seconds": 0, "k8s_informer_handler_pending_events{handler=h}": 0})
				stop()
			})
		})
	}
}

// Panics of handlers are counted and not recovered (S21).
func TestPanicsAreCountedAndGoOn(t *testing.T) {
	obs, reg := observertest.New(t)
	lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
	h := lw.Decorate("broken", cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("broken") }})
	lw.Receive(2)
	func() {
		defer func() {
			if r := recover(); r != "broken" {
				t.Errorf("recovered %v: the panic was recovered elsewhere", r)
			}
		}()
		h.OnAdd(fakeapi.Pod("a", 2), false)
	}()
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"k8s_informer_handler_panics_total{handler=broken}": 1, "k8s_informer_handler_pending_events{handler=broken}": 0,
		"k8s_informer_handler_duration_seconds_count{handler=broken}": 0, "k8s_informer_event_lag_seconds_count": 0,
	})
}

// Objects that a Transform drops never reach a handler and are not pending.
func TestDroppedObjectsAreNotPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
		if err := inf.SetTransform(func(obj any) (any, error) {
			if p := obj.(*corev1.Pod); p.Name == "unwanted" {
				return nil, errTest
			}
			return obj, nil
		}); err != nil {
			t.Fatal(err)
		}
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 2))
		stream.Send(watch.Added, fakeapi.Pod("unwanted", 3))
		time.Sleep(time.Minute)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_objects": 1, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_handler_pending_events{handler=h}": 0, "k8s_informer_event_lag_seconds_count": 1,
			"k8s_informer_transform_drops_total{cause=error}": 1, "k8s_informer_transform_drops_total{cause=nil}": 0,
			"k8s_informer_events_lost_total{reason=transform}": 1,
		})
		stop()
	})
}

// Objects that a Transform drops or changes are not pending, even if the Transform is behind by as many events as the watch
// reads ahead.
func TestTransformBehindTheWatch(t *testing.T) {
	for name, transform := range map[string]cache.TransformFunc{
		"drops":              func(any) (any, error) { return nil, errTest },
		"strips the version": func(obj any) (any, error) { obj.(*corev1.Pod).ResourceVersion = ""; return obj, nil },
	} {
		t.Run(name, func(t *testing.T) {
			// Not with synctest: client-go holds a mutex while it transforms, and goroutines that wait for it block the clock.
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
			const events = 2 * readAhead
			var seen atomic.Int32
			if err := inf.SetTransform(func(obj any) (any, error) {
				time.Sleep(time.Millisecond)
				seen.Add(1)
				return transform(obj)
			}); err != nil {
				t.Fatal(err)
			}
			start(t, inf)
			stream := <-server.Streams
			for v := 2; v < 2+events; v++ {
				stream.Send(watch.Added, fakeapi.Pod(strconv.Itoa(v), v))
			}
			metricstest.Eventually(t, reg, "all transformed", func(s metricstest.Snapshot) bool {
				return seen.Load() == events && s["k8s_informer_objects"] == float64(len(inf.GetStore().ListKeys()))
			})
			s := metricstest.Eventually(t, reg, "nothing is waited for", func(s metricstest.Snapshot) bool {
				return s["k8s_informer_handler_pending_events{handler=h}"] == 0 && s["k8s_informer_sync_lag_seconds"] == 0
			})
			check(t, s, metricstest.Snapshot{"k8s_informer_event_lag_seconds_count": 0})
		})
	}
}

// A Transform that removes resourceVersions does not hide that the watch is down, after more events than an informer remembers.
func TestManyEventsWithoutVersions(t *testing.T) {
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.RememberedEvents = 256 })
	server := fakeapi.NewServer()
	var down atomic.Bool
	server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) {
		if down.Load() {
			return nil, errTest
		}
		return nil, nil
	}
	inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
	if err := inf.SetTransform(func(obj any) (any, error) { obj.(*corev1.Pod).ResourceVersion = ""; return obj, nil }); err != nil {
		t.Fatal(err)
	}
	start(t, inf)
	stream := <-server.Streams
	const events = 1000
	for v := 2; v < 2+events; v++ {
		stream.Send(watch.Added, fakeapi.Pod(strconv.Itoa(v), v))
	}
	metricstest.Eventually(t, reg, "all are handled", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_handler_duration_seconds_count{handler=h}"] == events && s["k8s_informer_handler_pending_events{handler=h}"] == 0
	})
	down.Store(true)
	stream.Close()
	metricstest.Eventually(t, reg, "the watch is down", func(s metricstest.Snapshot) bool { return s["k8s_informer_sync_lag_seconds"] > 0 })
}

// For resourceVersions that are not numbers, no lag is reported instead of a wrong one.
func TestOtherResourceVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
		stop := start(t, inf)
		stream := <-server.Streams
		time.Sleep(time.Minute)
		for _, version := range []string{"x-1", "", "0"} {
			p := fakeapi.Pod("a", 1)
			p.ResourceVersion = version
			stream.Send(watch.Modified, p)
		}
		time.Sleep(time.Minute)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_count": 0, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_watch_events_total{type=modified}": 3,
		})
		stop()
	})
}

// The Tracer gets each delivery, and its trace ID becomes an exemplar (S18).
func TestTracer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer := &spantest.Tracer{}
		obs, reg := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 2))
		stream.Send(watch.Deleted, fakeapi.Pod("a", 3))
		time.Sleep(10 * time.Second)
		defer stop()
		synctest.Wait()
		delivered := tracer.Ended(spans.Deliver)
		if len(delivered) != 2 {
			t.Fatalf("%d spans, want 2", len(delivered))
		}
		for n, event := range []string{"added", "deleted"} {
			s := delivered[n]
			if s.Name != "pods" || s.WatchNamespace != "*" || s.Handler != "slow" || s.Event != event || s.Failed || s.Object != "default/a" ||
				s.End.Sub(s.Start) != time.Duration(n+1)*time.Second || !slices.Equal(s.Events, []string{"handler.started"}) {
				t.Errorf("the span of %s is %+v", event, s)
			}
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		exemplars := 0
		for _, f := range families {
			if f.GetName() != catalog.InformerEventLag.Name && f.GetName() != catalog.InformerHandlerDuration.Name {
				continue
			}
			for _, bucket := range f.GetMetric()[0].GetHistogram().GetBucket() {
				if e := bucket.GetExemplar(); e != nil && e.GetLabel()[0].GetName() == "trace_id" {
					exemplars++
				}
			}
		}
		if exemplars != 3 { // lags of 1 s and 2 s, and one duration of 1 s
			t.Errorf("%d exemplars", exemplars)
		}
	})
}

// The event path allocates nothing on top of client-go.
func TestHandlerDoesNotAllocate(t *testing.T) {
	never := &spantest.Tracer{Sample: func(spans.Operation) bool { return false }}
	for name, tracer := range map[string]collectors.Tracer{"without a Tracer": nil, "not sampled": never} {
		t.Run(name, func(t *testing.T) { testHandlerDoesNotAllocate(t, tracer) })
	}
}

func testHandlerDoesNotAllocate(t *testing.T, tracer collectors.Tracer) {
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
	h := lw.Decorate("h", cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {}})
	old, current := fakeapi.Pod("a", 1), fakeapi.Pod("a", 2)
	if n := testing.AllocsPerRun(1000, func() {
		lw.Receive(2)
		h.OnUpdate(old, current)
	}); n != 0 {
		t.Errorf("%v allocations for each event", n)
	}
}
