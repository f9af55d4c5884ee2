package informer_test

import (
	"bytes"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Replacing a Transform is counted, and the log shows where both were set (P1).
func TestTransformConflicts(t *testing.T) {
	var log bytes.Buffer
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	inf := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	keep := func(obj any) (any, error) { return obj, nil }
	for i, step := range []struct {
		f         cache.TransformFunc
		conflicts float64
	}{
		{nil, 0}, {keep, 0}, {keep, 1}, {nil, 2}, {keep, 2},
	} {
		if err := inf.SetTransform(step.f); err != nil {
			t.Fatal(err)
		}
		got, exists := metricstest.Take(t, reg)["k8s_informer_transform_conflicts_total"]
		if got != step.conflicts {
			t.Errorf("step %d: %v conflicts, want %v", i, got, step.conflicts)
		}
		if want := i > 0; exists != want { // a rule must see the first increase
			t.Errorf("step %d: the series exists: %v, want %v", i, exists, want)
		}
	}
	if n := strings.Count(log.String(), "pollution_test.go:"); n != 4 {
		t.Errorf("the log names %d places instead of 4:\n%s", n, &log)
	}
	if n := strings.Count(log.String(), "informer_type=pods watch_namespace=* first="); n != 2 {
		t.Errorf("the log names the informer %d times instead of 2:\n%s", n, &log)
	}
}

// A process that is born with the fault: the factory has a Transform, and a program sets another one before the informer starts. The
// warning names both calls of the program, and the counter is 1 at its first sample (P1).
func TestTransformConflictInAFactory(t *testing.T) {
	keep := func(obj any) (any, error) { return obj, nil }
	here := func() string { // the line of the caller
		_, file, line, _ := goruntime.Caller(1)
		return fmt.Sprintf("%s:%d", file, line)
	}
	for name, request := range map[string]func(*collectors.Observer) (cache.SharedIndexInformer, string){
		"typed": func(obs *collectors.Observer) (cache.SharedIndexInformer, string) {
			f := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{Transform: keep})
			return f.Core().V1().Pods().Informer(), here()
		},
		"dynamic": func(obs *collectors.Observer) (cache.SharedIndexInformer, string) {
			f := informer.NewDynamicSharedInformerFactory(obs, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), 0, informer.FactoryOptions{Transform: keep})
			return f.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer(), here()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log logtest.Recorder
			obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = log.Logger() })
			inf, first := request(obs)
			observertest.Keep(t, inf)
			if n := metricstest.Take(t, reg)["k8s_informer_transforms"]; n != 1 {
				t.Errorf("%v transforms before the informer starts, want 1", n)
			}
			err, second := inf.SetTransform(keep), here()
			if err != nil {
				t.Fatal(err)
			}
			if n := metricstest.Take(t, reg)["k8s_informer_transform_conflicts_total"]; n != 1 {
				t.Errorf("%v conflicts, want 1", n)
			}
			lines := log.Find("transform of a shared informer was replaced", "first", first, "second", second)
			if len(lines) != 1 || lines[0].Level != slog.LevelWarn {
				t.Errorf("warnings that name %s and %s: %v; all: %v", first, second, lines, log.Find(""))
			}
		})
	}
}

// A Transform that client-go rejects, because the informer has started, leaves no series.
func TestRejectedTransform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		stop := start(t, inf)
		<-server.Streams
		synctest.Wait()
		if err := inf.SetTransform(func(obj any) (any, error) { return obj, nil }); err == nil {
			t.Fatal("accepted")
		}
		if _, exists := metricstest.Take(t, reg)["k8s_informer_transform_drops_total{cause=nil}"]; exists {
			t.Error("drops are counted without a Transform")
		}
		stop()
	})
}

// Versions that go backwards are counted once, regardless of how they arrive, and pairing continues (S12).
func TestVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		version := 100
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(version), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 101))
		stream.Send(watch.Bookmark, fakeapi.Bookmark(150))
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_resource_version{stage=received}": 150, "k8s_informer_resource_version{stage=stored}": 150,
			"k8s_informer_resource_version{stage=handled}": 101, "k8s_informer_resource_version_regressions_total": 0,
		})
		version = 50 // etcd was restored
		stream.Fail(&metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired})
		stream = <-server.Streams
		stream.Send(watch.Modified, fakeapi.Pod("b", 60))
		time.Sleep(time.Second)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_resource_version{stage=received}": 60, "k8s_informer_resource_version{stage=stored}": 60,
			"k8s_informer_resource_version{stage=handled}": 60, "k8s_informer_resource_version_regressions_total": 1,
			"k8s_informer_handler_pending_events{handler=h}": 0, "k8s_informer_sync_lag_seconds": 0,
		})
		stop()
	})
}

// After a relist, every handler gets an update of each unchanged object, even if the informer has no resyncs (S20, B5).
func TestUnchangedUpdatesOfARelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(10, fakeapi.Pod("a", 7), fakeapi.Pod("b", 8)), nil
		}
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		time.Sleep(time.Minute)
		before := metricstest.Take(t, reg)
		stream.Fail(&metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired})
		<-server.Streams
		time.Sleep(time.Minute)
		changed := metricstest.Take(t, reg).Since(before)
		check(t, changed, metricstest.Snapshot{"k8s_informer_unchanged_updates_total{cause=relist}": 2})
		if lag := changed["k8s_informer_event_lag_seconds_count"]; lag != 0 {
			t.Errorf("unchanged objects have %v event lags", lag)
		}
		stop()
	})
}

// Status updates are passed to every handler, but do not change the generation (S37).
func TestSameGenerationUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
		addHandler(t, inf, slow)
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		send := func(event watch.EventType, version int, generation int64) {
			object := fakeapi.Pod("a", version)
			object.Generation = generation
			stream.Send(event, object)
		}
		const name = "k8s_informer_same_generation_updates_total"
		send(watch.Added, 2, 1)
		send(watch.Modified, 3, 2) // the spec
		time.Sleep(90 * time.Second)
		if n, found := metricstest.Take(t, reg)[name]; found {
			t.Errorf("%v updates of the spec and resyncs are counted", n)
		}
		send(watch.Modified, 4, 2)
		send(watch.Modified, 5, 2)
		send(watch.Modified, 6, 0) // as some aggregated API servers do
		send(watch.Modified, 7, 0)
		time.Sleep(time.Second * 20)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{name: 4})
		stop()
	})
}

// Without resource versions, which a Transform may remove, unchanged objects cannot be distinguished from updates. A resync
// can still be recognized.
func TestUpdatesWithoutVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
		if err := inf.SetTransform(func(obj any) (any, error) {
			stripped := obj.(*corev1.Pod).DeepCopy()
			stripped.ResourceVersion = ""
			return stripped, nil
		}); err != nil {
			t.Fatal(err)
		}
		addHandler(t, inf, slow)
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Modified, fakeapi.Pod("a", 11))
		stream.Send(watch.Modified, fakeapi.Pod("a", 12))
		time.Sleep(90 * time.Second)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_handler_duration_seconds_count{handler=slow}": 4,
			"k8s_informer_unchanged_updates_total{cause=relist}":        0,
			"k8s_informer_unchanged_updates_total{cause=resync}":        1,
		})
		stop()
	})
}

// A handler that does not return keeps its informer running after the end of its context (S22).
func TestOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		release := make(chan struct{})
		addHandler(t, inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 2))
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_orphans": 0})
		go stop()
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_orphans": 1})
		close(release)
		synctest.Wait()
		if s := metricstest.Take(t, reg); len(s) != 0 {
			t.Errorf("after the handler returned:\n%s", s)
		}
	})
}

// Events that have not been delivered to a handler when it is removed are lost (S19). The call in progress, for an event or for an
// object of the list, is finished.
func TestEventsLostByARemoval(t *testing.T) {
	for _, c := range []struct {
		listed, events int
		lost           float64
	}{{0, 4, 3}, {0, 1, 0}, {1, 1, 1}, {1, 0, 0}, {0, 0, 0}} {
		t.Run(fmt.Sprintf("%d listed, %d events", c.listed, c.events), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
					return fakeapi.PodList(1, []*corev1.Pod{fakeapi.Pod("listed", 1)}[:c.listed]...), nil
				}
				inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
				registration := addHandler(t, inf, slow)
				stop := start(t, inf)
				stream := <-server.Streams
				for v := range c.events {
					stream.Send(watch.Added, fakeapi.Pod(names[v], 2+v))
				}
				synctest.Wait()
				if err := inf.RemoveEventHandler(registration); err != nil {
					t.Fatal(err)
				}
				if lost := metricstest.Take(t, reg)["k8s_informer_events_lost_total{reason=stop}"]; lost != c.lost {
					t.Errorf("%v events lost, want %v", lost, c.lost)
				}
				time.Sleep(time.Minute)
				stop()
			})
		})
	}
}
