package core_test

import (
	"maps"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// A scope deletes its own series when it ends, not those of others, and creates none afterwards.
func TestScopeEnds(t *testing.T) {
	obs, series := observer(t, catalog.InformerHandlerPanics)
	informer, other := obs.Metrics.Scope("pods", "*"), obs.Metrics.Scope("nodes", "*")
	handler := informer.Sub("first")
	handler.Counter(catalog.InformerHandlerPanics).Inc()
	informer.Counter(catalog.InformerHandlerPanics, "second").Add(2)
	other.Sub("other").Counter(catalog.InformerHandlerPanics).Add(3)
	const panics = "k8s_informer_handler_panics_total"
	want := metricstest.Snapshot{
		panics + "{handler=first}":  1,
		panics + "{handler=second}": 2,
		panics + "{handler=other}":  3,
	}
	if s := series(); !maps.Equal(s, want) {
		t.Errorf("at the start:\n%s\nwant\n%s", s, want)
	}
	informer.End()
	informer.End()
	delete(want, panics+"{handler=second}")
	informer.Counter(catalog.InformerHandlerPanics, "second").Inc()
	informer.Sub("third").Counter(catalog.InformerHandlerPanics).Inc()
	if s := series(); !maps.Equal(s, want) {
		t.Errorf("after the informer's end:\n%s\nwant\n%s", s, want)
	}
	handler.End()
	delete(want, panics+"{handler=first}")
	if s := series(); !maps.Equal(s, want) {
		t.Errorf("after the handler's end:\n%s\nwant\n%s", s, want)
	}
}

// Gauges and summaries of an ended scope have no effect.
func TestEndedScope(t *testing.T) {
	obs, series := observer(t, catalog.InformerListDuration)
	s := obs.Metrics.Scope("pods", "*")
	s.End()
	s.Summary(catalog.InformerListDuration).Observe(1)
	s.Histogram(catalog.InformerEventLag).Observe(1)
	s.Gauge(catalog.UpstreamQueueDepth).Set(1)
	if s := series(); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}
