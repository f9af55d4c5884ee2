package informer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Reads by key are hits or misses, all other reads are lists by index, and writes are not counted (S1).
func TestReads(t *testing.T) {
	obs, reg := observertest.New(t)
	inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	}))
	i := inf.GetIndexer()
	before := metricstest.Take(t, reg)
	p := fakeapi.Pod("a", 1)
	for _, err := range []error{i.Add(p), i.Update(p), i.Replace([]any{p}, "1"), i.AddIndexers(cache.Indexers{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = i.GetIndexers()
	_ = i.ListIndexFuncValues(cache.NamespaceIndex)
	const stored = "k8s_informer_resource_version{stage=stored}"
	metricstest.Take(t, reg).Since(before, stored).Equal(t, metricstest.Snapshot{})

	_, _, _ = i.Get(p)
	_, _, _ = i.GetByKey("default/a")
	_, _, _ = inf.GetStore().GetByKey("default/none")
	_, _, _ = i.Get("an object without a key")
	_ = i.List()
	_ = i.ListKeys()
	_, _ = i.ByIndex(cache.NamespaceIndex, "default")
	_, _ = i.Index(cache.NamespaceIndex, p)
	_, _ = i.IndexKeys(cache.NamespaceIndex, "default")
	_, _ = i.ByIndex("no such index", "default")
	metricstest.Take(t, reg).Since(before, stored).Equal(t, metricstest.Snapshot{
		"k8s_informer_cache_hits_total":                   2,
		"k8s_informer_cache_misses_total":                 1,
		"k8s_informer_cache_lists_total{index=*}":         2,
		"k8s_informer_cache_lists_total{index=namespace}": 3,
	})
}

// Names that are not valid UTF-8 cannot be label values. A program that uses them must not be affected.
func TestNamesThatCannotBeLabels(t *testing.T) {
	obs, reg := observertest.New(t)
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Group: "\xff", Resource: "\xff", Namespace: "\xff"}, fakeapi.NewServer(), &corev1.Pod{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"\xff": cache.MetaNamespaceIndexFunc}})
	if _, err := inf.GetIndexer().ByIndex("\xff", "default"); err != nil {
		t.Fatal(err)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_cache_lists_total{index=\uFFFD}": 1})
	stop := start(t, inf)
	stop()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}

// Two informers of the same resource and namespace share their series: counts are summed, and the worse state is reported (P5).
func TestDuplicatesAreReportedAsOne(t *testing.T) {
	obs, reg := observertest.New(t)
	a, idle := informer.NewListerWatcher(obs, pods, fakeapi.NewServer()), informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
	var b *informer.ListerWatcher
	_, _ = a.List(metav1.ListOptions{})
	// The other informer has not been started and has no state.
	const received = "k8s_informer_resource_version{stage=received}"
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_synced": 1, "k8s_informer_duplicates": 1, received: 1})
	failing := true
	b = informer.NewListerWatcher(obs, pods, &fakeapi.Server{OnList: func(metav1.ListOptions) (runtime.Object, error) {
		if failing {
			return nil, errTest
		}
		return fakeapi.PodList(5), nil
	}})
	_, _ = b.List(metav1.ListOptions{})
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_synced": 0, "k8s_informer_duplicates": 2})
	failing = false
	_, _ = b.List(metav1.ListOptions{})
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_synced": 1, "k8s_informer_relists_total{reason=initial}": 2})
	idle.Close()
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{received: 1}) // the other one has 5
	a.Close()
	a.Close()
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_synced": 1, "k8s_informer_duplicates": 0, received: 5})
	b.Close()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the last one has ended:\n%s", s)
	}
}

// Of several informers with the same labels, the lowest versions are reported, in any order of the informers. An informer that was not
// started has none.
func TestVersionsOfDuplicates(t *testing.T) {
	for _, versions := range [][]int{{20, 10, 0}, {0, 10, 20}, {10, 0, 20}} {
		t.Run(fmt.Sprint(versions), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				for _, version := range versions {
					server := fakeapi.NewServer()
					inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
					if version == 0 {
						continue
					}
					addHandler(t, inf, cache.ResourceEventHandlerFuncs{})
					start(t, inf)
					stream := <-server.Streams
					stream.Send(watch.Added, fakeapi.Pod("a", version))
					stream.Send(watch.Modified, fakeapi.Pod("a", version+1))
					stream.Send(watch.Bookmark, fakeapi.Bookmark(version+2))
				}
				synctest.Wait()
				check(t, metricstest.Take(t, reg), metricstest.Snapshot{
					"k8s_informer_resource_version{stage=received}": 12, "k8s_informer_resource_version{stage=stored}": 12,
					"k8s_informer_resource_version{stage=handled}": 11, "k8s_informer_objects": 2, "k8s_informer_handlers": 2,
				})
			})
		})
	}
}

// Of several informers with the same labels, the worst connection is reported, in any order. Informers that were not started, and those
// without an observed connection, do not count.
func TestConnectionsOfDuplicates(t *testing.T) {
	const connected, lag = "k8s_informer_watch_connected", "k8s_informer_sync_lag_seconds"
	create := map[string]func(*testing.T, *collectors.Observer){
		"idle": func(_ *testing.T, obs *collectors.Observer) {
			informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
		},
		"unobserved": func(t *testing.T, obs *collectors.Observer) {
			start(t, informer.Wrap(obs, pods, cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})))
		},
		"down": func(_ *testing.T, obs *collectors.Observer) {
			_, _ = informer.NewListerWatcher(obs, pods, fakeapi.NewServer()).List(metav1.ListOptions{})
		},
		"open": func(t *testing.T, obs *collectors.Observer) {
			w, err := informer.NewListerWatcher(obs, pods, fakeapi.NewServer()).Watch(metav1.ListOptions{ResourceVersion: "1"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
		},
	}
	for _, c := range []struct {
		a, b string
		want metricstest.Snapshot
	}{
		{"open", "open", metricstest.Snapshot{connected: 1, lag: 0}},
		{"open", "idle", metricstest.Snapshot{connected: 1, lag: 0}},
		{"open", "unobserved", metricstest.Snapshot{connected: 1, lag: 0}},
		{"open", "down", metricstest.Snapshot{connected: 0, lag: 60}},
		{"down", "down", metricstest.Snapshot{connected: 0, lag: 60}},
		{"down", "idle", metricstest.Snapshot{connected: 0, lag: 60}},
		{"down", "unobserved", metricstest.Snapshot{connected: 0, lag: 60}},
	} {
		for _, order := range [][]string{{c.a, c.b}, {c.b, c.a}} {
			t.Run(strings.Join(order, ", "), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg := observertest.New(t)
					for _, state := range order {
						create[state](t, obs)
					}
					time.Sleep(time.Minute)
					check(t, metricstest.Take(t, reg), c.want)
				})
			})
		}
	}
}

// 1,000 informers leave no series and no goroutine (S22).
func TestNothingIsLeft(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	obs, reg := observertest.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range 1000 {
		id := informer.ID{Resource: "pods", Namespace: fmt.Sprintf("ns-%d", n)}
		server := fakeapi.NewServer()
		inf := informer.NewSharedIndexInformer(obs, id, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		if _, err := inf.AddEventHandler(slow); err != nil {
			t.Fatal(err)
		}
		_ = inf.GetIndexer().List()
		wg.Go(func() { inf.RunWithContext(ctx) })
		<-server.Streams
	}
	if n := len(informer.Statuses(obs)); n != 1000 {
		t.Errorf("%d informers run", n)
	}
	cancel()
	wg.Wait()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("%d series remain", len(s))
	}
	leaktest.None(t, ignore)
	for name, c := range map[string]interface{ Acquire(string) string }{
		"types": &core.Of(obs).Labels.InformerTypes, "namespaces": &core.Of(obs).Labels.WatchNamespaces,
		"handlers": &core.Of(obs).Labels.Handlers, "indexes": &core.Of(obs).Labels.Indexes,
	} {
		for n := range 300 {
			if v := c.Acquire(fmt.Sprint(n)); v == "other" && n < 200 {
				t.Fatalf("the limit of the %s is still used up: %d is %s", name, n, v)
			}
		}
	}
}
