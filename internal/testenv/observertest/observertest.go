// Package observertest provides Observers and prints metrics, in tests and examples of the library.
package observertest

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// New returns an Observer with the name "test" and its registry. It logs nothing: the Observer may log after the test has
// ended. Each function may change its options.
func New(t testing.TB, change ...func(*collectors.Options)) (*collectors.Observer, *prometheus.Registry) {
	t.Helper()
	options := collectors.Options{Name: "test", Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&options)
	}
	registry := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(registry, options)
	if err != nil {
		t.Fatal(err)
	}
	return obs, registry
}

// Keep keeps an informer or a factory reachable until the test has ended: otherwise, one that is not run loses its series at the
// next garbage collection.
func Keep[T any](t testing.TB, kept T) T {
	t.Cleanup(func() { runtime.KeepAlive(kept) })
	return kept
}

// Values fails the test unless a label of a metric has exactly these values in the catalog, in any order.
func Values(t testing.TB, m catalog.Metric, label string, values ...string) {
	t.Helper()
	if got, want := slices.Sorted(slices.Values(values)), slices.Sorted(slices.Values(m.Values(label))); !slices.Equal(got, want) {
		t.Errorf("%s has the values %q of the label %s, the catalog %q", m.Name, got, label, want)
	}
}

// Upstream is an option for New that enables client-go's own metrics.
func Upstream(options *collectors.Options) { options.UpstreamMetrics = true }

// Example returns an Observer with the name "my-controller" and its registry.
func Example() (*collectors.Observer, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller"})
	if err != nil {
		panic(err)
	}
	return obs, registry
}

// Print writes the series of counters and gauges to standard output, without the label name.
func Print(g prometheus.Gatherer, metrics ...string) {
	families, err := g.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if !slices.Contains(metrics, f.GetName()) {
			continue
		}
		for _, m := range f.GetMetric() {
			_, _ = fmt.Fprintf(os.Stdout, "%s%s %v\n", f.GetName(), labels(m), m.GetCounter().GetValue()+m.GetGauge().GetValue())
		}
	}
}

func labels(m *dto.Metric) string {
	var pairs []string
	for _, l := range m.GetLabel() {
		if l.GetName() != "name" {
			pairs = append(pairs, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
