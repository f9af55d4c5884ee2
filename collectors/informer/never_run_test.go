package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// runner is an informer or its controller.
type runner interface{ RunWithContext(ctx context.Context) }

// neverRun has a function for each way to create an informer that cannot be ended with a method. Each function adds a handler
// that refers to its informer, and does not run the informer.
var neverRun = map[string]func(*testing.T, *collectors.Observer, informer.ID) runner{
	"NewSharedIndexInformer": func(t *testing.T, obs *collectors.Observer, id informer.ID) runner {
		inf := informer.NewSharedIndexInformer(obs, id, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
		addHandler(t, inf, reader{inf})
		_, _ = inf.GetIndexer().ByIndex(cache.NamespaceIndex, "x")
		return inf
	},
	"Wrap": func(t *testing.T, obs *collectors.Observer, id informer.ID) runner {
		inf := informer.Wrap(obs, id, cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{}))
		addHandler(t, inf, reader{inf})
		return inf
	},
	"NewInformerWithOptions": func(_ *testing.T, obs *collectors.Observer, id informer.ID) runner {
		var store cache.Store
		var controller cache.Controller
		store, controller = informer.NewInformerWithOptions(obs, id, cache.InformerOptions{
			ListerWatcher: fakeapi.NewServer(), ObjectType: &corev1.Pod{}, Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(any) { _ = store.List() }},
		})
		_, _, _ = store.GetByKey("x")
		return controller
	},
	"NewSharedInformerFactory": func(t *testing.T, obs *collectors.Observer, id informer.ID) runner {
		factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{Namespace: id.Namespace})
		inf := factory.Core().V1().Pods().Informer()
		addHandler(t, inf, factoryReader{factory})
		return inf
	},
}

// reader and factoryReader are handlers that refer to their informer.
type (
	reader        struct{ cache.SharedIndexInformer }
	factoryReader struct {
		informers.SharedInformerFactory
	}
)

func (r reader) OnAdd(any, bool)        { _ = r.GetStore().List() }
func (r reader) OnUpdate(any, any)      {}
func (r reader) OnDelete(any)           {}
func (r factoryReader) OnAdd(any, bool) { r.WaitForCacheSync(nil) }
func (r factoryReader) OnUpdate(any, any) {
}
func (r factoryReader) OnDelete(any) {}

// Informers that are never run leave no series once they are unreachable, and their labels are free again. An informer with the same
// labels keeps its own.
func TestUnreachableInformers(t *testing.T) {
	for name, create := range neverRun {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t, observertest.Upstream)
			kept := informer.NewListerWatcher(obs, informer.ID{Resource: "pods", Namespace: "ns-0"}, fakeapi.NewServer())
			for n := range 1000 {
				create(t, obs, informer.ID{Resource: "pods", Namespace: fmt.Sprintf("ns-%d", n)})
			}
			await.True(t, "only the series of the other informer", func() bool {
				runtime.GC()
				return !slices.ContainsFunc(metricstest.Gather(t, reg), func(s metricstest.Sample) bool {
					return s.Labels["handler"] != "" || s.Labels["watch_namespace"] != "ns-0" && s.Labels["watch_namespace"] != ""
				})
			})
			kept.Close()
			metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
			for n := range 200 {
				if v := core.Of(obs).Labels.WatchNamespaces.Acquire(fmt.Sprint(n)); v == "other" {
					t.Fatalf("the limit of namespaces is still used up: %d is %s", n, v)
				}
			}
		})
	}
}

// An informer that is run with a canceled context leaves no series.
func TestRunWithACanceledContext(t *testing.T) {
	for name, create := range neverRun {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			inf := create(t, obs, pods)
			if len(metricstest.Take(t, reg)) == 0 {
				t.Fatal("there are no series")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			inf.RunWithContext(ctx)
			metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
		})
	}
}

// An informer is reachable through its store, its listers, its controller and the registrations of its handlers.
func TestReachableInformers(t *testing.T) {
	for name, create := range map[string]func(*collectors.Observer) any{
		"lister": func(obs *collectors.Observer) any {
			return informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{}).Core().V1().Pods().Lister()
		},
		"store": func(obs *collectors.Observer) any {
			return informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{}).GetStore()
		},
		"registration": func(obs *collectors.Observer) any {
			registration, err := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{}).AddEventHandler(cache.ResourceEventHandlerFuncs{})
			if err != nil {
				t.Fatal(err)
			}
			return registration
		},
		"controller": func(obs *collectors.Observer) any {
			_, c := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{ListerWatcher: fakeapi.NewServer(), ObjectType: &corev1.Pod{}, Handler: cache.ResourceEventHandlerFuncs{}})
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			held := create(obs)
			want := metricstest.Take(t, reg)
			for range 3 {
				other, otherReg := observertest.New(t)
				neverRun["Wrap"](t, other, pods)
				await.True(t, "an unreachable informer ends", func() bool {
					runtime.GC()
					return len(metricstest.Take(t, otherReg)) == 0
				})
			}
			metricstest.Take(t, reg).Equal(t, want)
			if len(want) == 0 {
				t.Error("there are no series")
			}
			runtime.KeepAlive(held)
		})
	}
}
