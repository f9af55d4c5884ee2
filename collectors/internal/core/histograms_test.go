package core_test

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Observations from 100 µs to a minute neither reset a native histogram nor lower its resolution, and keep their exemplars.
func TestNativeResolution(t *testing.T) {
	for _, form := range []core.Histograms{"both", "native"} {
		registry := prometheus.NewPedanticRegistry()
		obs := core.New(registry, core.Options{Name: "test", Histograms: form})
		registry.MustRegister(obs)
		series := obs.Metrics.Histogram(catalog.InformerEventLag, "pods", "*")
		const n = 10_000
		for i := range n {
			core.Observe(series, 1e-4*math.Pow(6e5, float64(i)/n), "0123456789abcdef0123456789abcdef")
		}
		h := histogram(t, registry, catalog.InformerEventLag.Name)
		buckets := 0
		for _, span := range h.GetPositiveSpan() {
			buckets += int(span.GetLength())
		}
		if h.GetSampleCount() != n || h.GetSchema() != 3 || buckets < 150 || buckets > 160 {
			t.Errorf("%s: %d observations in %d buckets of schema %d, want %d in up to 160 of schema 3",
				form, h.GetSampleCount(), buckets, h.GetSchema(), n)
		}
		if len(h.GetExemplars()) == 0 {
			t.Errorf("%s: no exemplars of native buckets", form)
		}
	}
}

func histogram(t *testing.T, g prometheus.Gatherer, name string) *dto.Histogram {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("no %s", name)
	return nil
}
