package core_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// observer returns an Observer, and a function that returns the series of one metric.
func observer(t *testing.T, m catalog.Definition) (*core.Observer, func() metricstest.Snapshot) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	obs := core.New(registry, core.Options{Name: "test"})
	registry.MustRegister(obs)
	return obs, func() metricstest.Snapshot {
		s := metricstest.Take(t, registry)
		maps.DeleteFunc(s, func(series string, _ float64) bool { return !strings.HasPrefix(series, m.Define().Name) })
		return s
	}
}

// The values that rules need exist at 0, the others once they have increased, and none after the end.
func TestCounterSet(t *testing.T) {
	obs, series := observer(t, catalog.InformerWatchDisconnects)
	scope := obs.Metrics.Scope("pods", "*")
	set := scope.CounterSet(catalog.InformerWatchDisconnects)
	want := metricstest.Snapshot{}
	for _, value := range catalog.InformerWatchDisconnects.AtZero {
		want["k8s_informer_watch_disconnects_total{reason="+value+"}"] = 0
	}
	if s := series(); len(want) == 0 || !maps.Equal(s, want) {
		t.Errorf("at the start:\n%s", s)
	}
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() { set.Inc("error"); set.Inc("no such value") })
	}
	calls.Wait()
	set.Add("expired", 0)
	want["k8s_informer_watch_disconnects_total{reason=error}"], want["k8s_informer_watch_disconnects_total{reason=expired}"] = 100, 0
	if s := series(); !maps.Equal(s, want) {
		t.Errorf("after increases:\n%s", s)
	}
	scope.End()
	for _, value := range catalog.InformerWatchDisconnects.Values("reason") {
		set.Inc(value)
	}
	if s := series(); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}

// A set of a summary has no series before its first observation.
func TestObserverSet(t *testing.T) {
	obs, series := observer(t, catalog.InformerSyncDuration)
	set := obs.Metrics.Scope("pods", "*").ObserverSet(catalog.InformerSyncDuration)
	if s := series(); len(s) != 0 {
		t.Errorf("at the start:\n%s", s)
	}
	set.Observe("success", 1)
	set.Observe("success", 2)
	want := metricstest.Snapshot{
		"k8s_informer_sync_duration_seconds_count{result=success}": 2,
		"k8s_informer_sync_duration_seconds_sum{result=success}":   3,
	}
	if s := series(); !maps.Equal(s, want) {
		t.Errorf("after two observations:\n%s", s)
	}
}

// A single lazy series exists from its first use to the end.
func TestLazySeries(t *testing.T) {
	obs, series := observer(t, catalog.InformerListPages)
	ended, other := obs.Metrics.Scope("pods", "*"), obs.Metrics.Scope("nodes", "*")
	pages, late, kept := ended.LazyCounter(catalog.InformerListPages), ended.LazyCounter(catalog.InformerListPages), other.LazyCounter(catalog.InformerListPages)
	if s := series(); len(s) != 0 {
		t.Errorf("at the start:\n%s", s)
	}
	pages.Add(2)
	kept.Add(3)
	ended.End()
	late.Add(1)
	pages.Add(1)
	if s := series(); !slices.Equal(slices.Collect(maps.Values(s)), []float64{3}) {
		t.Errorf("after the end:\n%s", s)
	}
}
