//go:build !clientgo_before_0_36

package collectors_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// decorateAll uses each decorator of the library once, with the given string as the value of every open label. The returned
// function ends all decorated objects that can end.
func decorateAll(t *testing.T, obs *collectors.Observer, name string) (end func()) {
	t.Helper()
	endInformer := decorateInformer(t, obs, name)
	endQueue := decorateQueue(obs, name)
	decorateController(t, obs, name)
	decorateClient(t, obs, name)
	leader.NewLock(obs, &resourcelock.LeaseLock{}, leader.Options{Name: name})
	leader.NewMetricsProvider(obs).NewLeaderMetric().Off(name)
	return func() {
		endInformer()
		endQueue()
		controllers.Forget(obs, name)
	}
}

func decorateInformer(t *testing.T, obs *collectors.Observer, name string) (end func()) {
	t.Helper()
	identity, err := cache.NewInformerName(t.Name() + name)
	if err != nil {
		t.Fatal(err)
	}
	server := fakeapi.NewServer()
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: name, Namespace: name}, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers:   cache.Indexers{name: cache.MetaNamespaceIndexFunc},
		Identifier: identity.WithResource(corev1.SchemeGroupVersion.WithResource("pods")),
	})
	if _, err := inf.AddEventHandler(informer.NamedHandler(name, cache.ResourceEventHandlerFuncs{})); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one replaces the first
		if err := inf.SetTransform(func(object any) (any, error) { return object, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := inf.GetIndexer().ByIndex(name, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := inf.GetIndexer().GetByKey(name); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	<-server.Streams
	return func() { cancel(); <-done; identity.Release() }
}

func decorateQueue(obs *collectors.Observer, name string) (end func()) {
	q := queue.NewTypedRateLimitingQueue(obs, name, workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	q.Add("item")
	item, _ := q.Get()
	q.Forget(item)
	q.Done(item)
	return func() {
		q.ShutDown()
		q.Get() // reports the shutdown, which ends the queue
	}
}

func decorateController(t *testing.T, obs *collectors.Observer, name string) {
	t.Helper()
	run := func(context.Context) error { return nil }
	object := func(context.Context, *corev1.Pod) error { return nil }
	writes := controllers.NewWrites[string](obs, name)
	writes.Wrote("key", fakeapi.Pod("pod", 2))
	writes.Stale("key", fakeapi.Pod("pod", 1))
	for _, err := range []error{
		controllers.NewSyncHandler(obs, name, func(context.Context, string) error { return nil }, controllers.Options{MaxWorkers: 1})(t.Context(), "key"),
		controllers.NewFinalizer(obs, name, name, object, controllers.FinalizerOptions{})(t.Context(), fakeapi.Pod("pod", 1)),
		controllers.NewRollback(obs, name, name, object)(t.Context(), fakeapi.Pod("pod", 1)),
		controllers.NewShutdownStep(obs, name, controllers.StopIntake, run)(t.Context()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func decorateClient(t *testing.T, obs *collectors.Observer, name string) {
	t.Helper()
	config := apiclient.WrapConfig(obs, &rest.Config{
		Host: "https://server", RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter(),
		Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusConflict, Body: http.NoBody}, nil
		}),
	}, apiclient.Options{})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/api/v1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Path = "/api/v1/" + name
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
}

// ofOthers are metric families that the library does not report.
var ofOthers = []catalog.Family{catalog.AuditWatchesOpen.Family, catalog.ExporterShards.Family, catalog.LeaseExpired.Family, catalog.ObjectTerminating.Family}

// TestMetricsAreThoseOfTheCatalog compares the metrics that an Observer describes and reports with the catalog, in both
// directions.
func TestMetricsAreThoseOfTheCatalog(t *testing.T) {
	obs, registry := observertest.New(t, observertest.Upstream, func(o *collectors.Options) {
		o.Checks = collectors.Checks{Freshness: time.Hour, Audit: time.Hour, Mutations: time.Hour}
		o.Tracer = &spantest.Tracer{}
	})
	want := map[string]bool{}
	for _, m := range catalog.All() {
		if !slices.Contains(ofOthers, m.Family) && !m.Foreign() {
			want[m.Name] = true
		}
	}
	described := make(chan *prometheus.Desc, 1000)
	obs.Describe(described)
	close(described)
	got := map[string]bool{}
	for d := range described {
		got[strings.Split(d.String(), `"`)[1]] = true
	}
	for name := range want {
		if strings.HasPrefix(name, "workqueue_") { // registered with the first queue
			got[name] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("described:\n%v\nin the catalog:\n%v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}

	t.Cleanup(decorateAll(t, obs, "a"))
	await.True(t, "the sync is reported", func() bool {
		n, err := testutil.GatherAndCount(registry, catalog.InformerSyncDuration.Name)
		return err == nil && n > 0
	})
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		delete(want, f.GetName())
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
	for _, m := range []catalog.Gauge{catalog.InformerWatchOpened, catalog.InformerFailures} {
		delete(want, m.Name) // there may be no open watch and no failure at this moment
	}
	if !maps.Equal(want, notYet) {
		t.Errorf("after each decorator was used once, there are no series of %v, want none of %v: notYet lists those that it may not create",
			slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(notYet)))
	}
}

// notYet are metrics with series that are created by events that decorateAll does not cause.
var notYet = map[string]bool{
	catalog.ControllerSelfCaused.Name:          true,
	catalog.InformerEnded.Name:                 true,
	catalog.InformerAuditDifferences.Name:      true,
	catalog.InformerCacheBytes.Name:            true, // the check is off
	catalog.TraceSpansDropped.Name:             true,
	catalog.TraceSpansExported.Name:            true,
	catalog.InformerDuplicates.Name:            true,
	catalog.InformerEventsLost.Name:            true,
	catalog.InformerIndexErrors.Name:           true,
	catalog.InformerResyncPeriods.Name:         true,
	catalog.InformerUnversionedObjects.Name:    true,
	catalog.InformerHandlerLastResync.Name:     true,
	catalog.InformerOrphans.Name:               true,
	catalog.InformerPropagation.Name:           true,
	catalog.InformerUnchangedUpdates.Name:      true,
	catalog.InformerSameGenerationUpdates.Name: true,
	catalog.ClientReads.Name:                   true, // a program may send none
	catalog.ClientReadBytes.Name:               true,
	catalog.ClientCompressedBytes.Name:         true,
	catalog.ClientUnchangedWrites.Name:         true,
	catalog.ClientWriteEcho.Name:               true,
	catalog.ClientWritesWithoutEcho.Name:       true,
	catalog.ClientOldestWriteWithoutEcho.Name:  true,
	catalog.InformerWatchDuration.Name:         true,
	catalog.InformerWatchEvents.Name:           true,
	catalog.ControllerDropped.Name:             true, // no item was dropped
	catalog.ControllerLeaderRenewDuration.Name: true,
}

// Omitted metrics have no series, and writes to them have no effect.
func TestOmittedMetrics(t *testing.T) {
	var all []string
	for _, m := range catalog.All() {
		if core.Reported(m) {
			all = append(all, m.Name)
		}
	}
	kept := catalog.InformerSynced.Name
	obs, registry := observertest.New(t, func(o *collectors.Options) {
		o.Checks = collectors.Checks{Freshness: time.Hour, Audit: time.Hour, Mutations: time.Hour}
		o.Omit = slices.DeleteFunc(all, func(name string) bool { return name == kept })
	})
	t.Cleanup(decorateAll(t, obs, "a"))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "workqueue_") { // upstream's
			got = append(got, f.GetName())
		}
	}
	if !slices.Equal(got, []string{kept}) {
		t.Errorf("%v are reported, want only %s", got, kept)
	}
}

// With Detail Essential, only essential metrics are reported, with essential buckets.
func TestEssentialDetail(t *testing.T) {
	obs, registry := observertest.New(t, func(o *collectors.Options) {
		o.Checks = collectors.Checks{Freshness: time.Hour, Audit: time.Hour, Mutations: time.Hour}
		o.Detail = collectors.Essential
	})
	t.Cleanup(decorateAll(t, obs, "a"))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	reported, histograms := 0, 0
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "workqueue_") { // upstream's
			continue
		}
		m, _ := catalog.ByName(f.GetName())
		reported++
		if !m.Essential {
			t.Errorf("%s is reported", f.GetName())
		}
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			histograms++
			var bounds []float64
			for _, b := range h.GetBucket() {
				bounds = append(bounds, b.GetUpperBound())
			}
			if !slices.Equal(bounds, m.EssentialBuckets) {
				t.Errorf("%s has the buckets %v, want %v", f.GetName(), bounds, m.EssentialBuckets)
			}
		}
	}
	if reported < 20 || histograms < 3 {
		t.Errorf("only %d metrics are reported, %d of them histograms", reported, histograms)
	}
}

// TestLimitsOfAllLabels: beyond its limit, every open label has the value other, and the overflow is counted.
func TestLimitsOfAllLabels(t *testing.T) {
	obs, registry := observertest.New(t, observertest.Upstream, func(o *collectors.Options) {
		o.Limits = collectors.Limits{
			InformerTypes: 1, WatchNamespaces: 1, Handlers: 1, Indexes: 1, Controllers: 1, Finalizers: 1, Locks: 1, Resources: 1,
		}
	})
	t.Cleanup(decorateAll(t, obs, "first"))
	before := metricstest.Take(t, registry)
	if n := before.Family("k8s_informer_label_overflow_total").Sum(); n != 0 {
		t.Errorf("%v overflows within the limits", n)
	}
	t.Cleanup(decorateAll(t, obs, "second"))
	t.Cleanup(decorateAll(t, obs, "third"))
	after := metricstest.Gather(t, registry)
	labels := map[string]bool{}
	for _, l := range []catalog.Label{
		catalog.LabelInformerType, catalog.LabelWatchNamespace, catalog.LabelHandler, catalog.LabelIndex, catalog.LabelController,
		catalog.LabelFinalizer, catalog.LabelLock, catalog.LabelResource,
	} {
		labels[l.Name] = true
		if n := after.Sum("k8s_informer_label_overflow_total", "label", l.Name); n == 0 {
			t.Errorf("no overflow of %s is counted", l.Name)
		}
	}
	for _, s := range after {
		for label, value := range s.Labels {
			if value == "second" || value == "third" {
				t.Errorf("%s{%s=%q} is beyond the limit", s.Name, label, value)
			}
			if value == "other" {
				delete(labels, label)
			}
		}
	}
	if len(labels) > 0 {
		t.Errorf("no series with the value other of %v", slices.Sorted(maps.Keys(labels)))
	}
}

// TestNamesThatCannotBeLabels: strings that are not valid UTF-8, empty or very long never break the program or a scrape.
func TestNamesThatCannotBeLabels(t *testing.T) {
	for _, name := range []string{"\xff", "a\xffb", strings.Repeat("x", 100_000)} {
		obs, registry := observertest.New(t, observertest.Upstream)
		end := decorateAll(t, obs, name)
		for _, s := range metricstest.Gather(t, registry) {
			for label, value := range s.Labels {
				if len(value) > 300 {
					t.Errorf("%s has a value of %d bytes for %s", s.Name, len(value), label)
				}
			}
		}
		end()
	}
}

// TestNothingIsLeft covers S22: informers, queues and controllers that have ended leave no goroutine and no series. Locks and
// clients do not end.
func TestNothingIsLeft(t *testing.T) {
	obs, registry := observertest.New(t)
	decorateAll(t, obs, "stays")()
	before, ignore := metricstest.Take(t, registry), goleak.IgnoreCurrent()
	for n := range 100 {
		name := fmt.Sprint("n", n)
		ends := []func(){decorateInformer(t, obs, name), decorateQueue(obs, name)}
		decorateController(t, obs, name)
		for _, end := range ends {
			end()
		}
		controllers.Forget(obs, name)
	}
	metricstest.Take(t, registry).Equal(t, before)
	leaktest.None(t, ignore)
	// All label values are free again: 200 is the smallest limit of these labels.
	ends := make([]func(), 0, 199)
	for n := range cap(ends) {
		ends = append(ends, decorateInformer(t, obs, fmt.Sprint("m", n)))
		decorateController(t, obs, fmt.Sprint("m", n))
	}
	if n := metricstest.Take(t, registry).Family("k8s_informer_label_overflow_total").Sum(); n != 0 {
		t.Errorf("%v label values are not released", n)
	}
	for _, end := range ends {
		end()
	}
}
