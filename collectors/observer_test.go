package collectors

import (
	"context"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

func TestNewRejectsWhatCannotWork(t *testing.T) {
	reg := prometheus.NewRegistry()
	if _, err := New(reg, Options{Name: "twice"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reg     prometheus.Registerer
		options Options
		says    string
	}{
		"no name":          {reg, Options{}, "Options.Name"},
		"negative memory":  {reg, Options{Name: "x", RememberedEvents: -1}, "Options.RememberedEvents"},
		"negative check":   {reg, Options{Name: "x", Checks: Checks{Freshness: -1}}, "Options.Checks.Freshness"},
		"negative audit":   {reg, Options{Name: "x", Checks: Checks{Audit: -1}}, "Options.Checks.Audit"},
		"negative sampler": {reg, Options{Name: "x", Checks: Checks{Mutations: -1}}, "Options.Checks.Mutations"},
		"negative limit":   {reg, Options{Name: "x", Limits: Limits{Indexes: -1}}, "Options.Limits.Indexes"},
		"no registry":      {nil, Options{Name: "x"}, "registerer"},
		"same name twice":  {reg, Options{Name: "twice"}, `"twice"`},
	} {
		if _, err := New(c.reg, c.options); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(reg, Options{Name: "another"}); err != nil {
		t.Errorf("two names on one registry: %v", err)
	}
}

// TestMetricsAreThoseOfTheCatalog compares in both directions, by what the registry describes: a Vec without children
// is not gathered.
func TestMetricsAreThoseOfTheCatalog(t *testing.T) {
	obs, reg := newObserver(t, func(o *Options) { o.UpstreamMetrics = true })
	ch := make(chan *prometheus.Desc, 1000)
	obs.Describe(ch)
	close(ch)
	got := map[string]bool{}
	for d := range ch {
		got[strings.Split(d.String(), `"`)[1]] = true
	}
	want := map[string]bool{}
	ofOthers := []catalog.Family{catalog.Exporter, catalog.Leases, catalog.Objects}
	for _, m := range catalog.All() {
		if !slices.Contains(ofOthers, m.Family) {
			want[m.Name] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("described:\n%v\nin the catalog:\n%v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	// With an informer, everything but the handlers and the lists by index is there at once, and clean.
	obs.ListerWatcher(pods, newFakeServer())
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		m, ok := catalog.ByName(f.GetName())
		if !ok || f.GetHelp() != m.Help || strings.ToLower(f.GetType().String()) != string(m.Type) {
			t.Errorf("%s is a %s with the help %q", f.GetName(), f.GetType(), f.GetHelp())
		}
		for _, series := range f.GetMetric() {
			var names []string
			for _, l := range series.GetLabel() {
				names = append(names, l.GetName())
			}
			if wanted := m.LabelNames(); !slices.Equal(names, slices.Sorted(slices.Values(wanted))) {
				t.Errorf("%s has the labels %v, want %v", f.GetName(), names, wanted)
			}
		}
	}
}

// TestReads covers S1: reads by key are hits or misses, all others are lists by index, writes are neither.
func TestReads(t *testing.T) {
	obs, reg := newObserver(t)
	inf := obs.NewSharedIndexInformer(pods, newFakeServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	i := inf.GetIndexer()
	before := metricstest.Take(t, reg)
	p := pod("a", 1)
	for _, err := range []error{i.Add(p), i.Update(p), i.Replace([]any{p}, "1"), i.AddIndexers(cache.Indexers{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = i.GetIndexers()
	_ = i.ListIndexFuncValues(cache.NamespaceIndex)
	_ = i.LastStoreSyncResourceVersion()
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

// Names that are no UTF-8 cannot be labels. A program that uses them all the same must not notice.
func TestNamesThatCannotBeLabels(t *testing.T) {
	obs, reg := newObserver(t)
	inf := obs.NewSharedIndexInformer(ID{Group: "\xff", Resource: "\xff", Namespace: "\xff"}, newFakeServer(), &corev1.Pod{},
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

// Two informers on the same thing share their series: what they hold is added up, and the worse state counts.
func TestDuplicatesAreReportedAsOne(t *testing.T) {
	obs, reg := newObserver(t)
	a, idle := obs.ListerWatcher(pods, newFakeServer()), obs.ListerWatcher(pods, newFakeServer())
	var b *ListerWatcher
	_, _ = a.List(metav1.ListOptions{})
	// The other one has not been started: it has no state that could be worse.
	const received = "k8s_informer_resource_version{stage=received}"
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_synced": 1, "k8s_informer_duplicates": 1, received: 1})
	failing := true
	b = obs.ListerWatcher(pods, &fakeServer{list: func(metav1.ListOptions) (runtime.Object, error) {
		if failing {
			return nil, errTest
		}
		return podList(5), nil
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

// TestNothingIsLeft covers S22 and the budget of 1,000 informers: no series and no goroutine stays.
func TestNothingIsLeft(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	obs, reg := newObserver(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range 1000 {
		id := ID{Resource: "pods", Namespace: fmt.Sprintf("ns-%d", n)}
		server := newFakeServer()
		inf := obs.NewSharedIndexInformer(id, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		if _, err := inf.AddEventHandler(slow); err != nil {
			t.Fatal(err)
		}
		_ = inf.GetIndexer().List()
		wg.Go(func() { inf.RunWithContext(ctx) })
		<-server.streams
	}
	if n := len(obs.Informers()); n != 1000 {
		t.Errorf("%d informers run", n)
	}
	cancel()
	wg.Wait()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("%d series are left", len(s))
	}
	if err := goleak.Find(ignore); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]interface{ Acquire(string) string }{
		"types": &obs.types, "namespaces": &obs.namespaces, "handlers": &obs.handlers, "indexes": &obs.indexes,
	} {
		for n := range 300 {
			if v := c.Acquire(fmt.Sprint(n)); v == "other" && n < 200 {
				t.Fatalf("the cap of the %s did not get its room back: %d is %s", name, n, v)
			}
		}
	}
}

// BenchmarkMemory reports what decorating an informer costs in memory. The budget is 300 KiB, whatever it holds.
func BenchmarkMemory(b *testing.B) {
	const informers = 200
	measure := func(decorated bool) float64 {
		obs, reg := newObserver(b)
		var keep []cache.SharedIndexInformer
		var before, after goruntime.MemStats
		goruntime.GC()
		goruntime.ReadMemStats(&before)
		for n := range informers {
			server := newFakeServer()
			var inf cache.SharedIndexInformer
			if decorated {
				inf = obs.NewSharedIndexInformer(ID{Resource: "pods", Namespace: fmt.Sprint(n)}, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			} else {
				inf = cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			}
			if _, err := inf.AddEventHandler(slow); err != nil {
				b.Fatal(err)
			}
			start(b, inf)
			<-server.streams
			keep = append(keep, inf)
		}
		metricstest.Take(b, reg)
		goruntime.GC()
		goruntime.ReadMemStats(&after)
		goruntime.KeepAlive(keep)
		return (float64(after.HeapInuse+after.StackInuse) - float64(before.HeapInuse+before.StackInuse)) / informers / 1024
	}
	plain := measure(false)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(plain, "plain-KiB")
	b.ReportMetric(measure(true)-plain, "added-KiB")
}
