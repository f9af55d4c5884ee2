package metricstest_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// registry returns a registry with a metric of each type.
func registry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "depth", Help: "h"}, []string{"name", "queue"})
	gauge.WithLabelValues("a", "x").Set(1)
	gauge.WithLabelValues("a", "y").Set(2)
	gauge.WithLabelValues("b", "x").Set(4)
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "adds_total", Help: "h"})
	counter.Add(8)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "wait_seconds", Help: "h"})
	histogram.Observe(3)
	histogram.Observe(4)
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "pause_seconds", Help: "h"})
	summary.Observe(5)
	reg.MustRegister(gauge, counter, histogram, summary)
	return reg
}

func TestSamples(t *testing.T) {
	reg := registry()
	server := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	scraped, err := metricstest.Scrape(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for from, s := range map[string]metricstest.Samples{"registry": metricstest.Gather(t, reg), "URL": scraped} {
		if len(s) != 8 {
			t.Errorf("%s: %d samples, want 8: %v", from, len(s), s)
		}
		for _, c := range []struct {
			want   float64
			name   string
			labels []string
		}{
			{7, "depth", nil},
			{3, "depth", []string{"name", "a"}},
			{2, "depth", []string{"name", "a", "queue", "y"}},
			{0, "depth", []string{"name", "b", "queue", "y"}},
			{0, "depth", []string{"missing", ""}},
			{8, "adds_total", nil},
			{2, "wait_seconds_count", nil},
			{7, "wait_seconds_sum", nil},
			{1, "pause_seconds_count", nil},
			{5, "pause_seconds_sum", nil},
		} {
			if got := s.Sum(c.name, c.labels...); got != c.want {
				t.Errorf("%s: %s%v is %v, want %v", from, c.name, c.labels, got, c.want)
			}
		}
		if got, want := s.By("depth", "queue"), map[string]float64{"x": 5, "y": 2}; !maps.Equal(got, want) {
			t.Errorf("%s: by queue %v, want %v", from, got, want)
		}
		if got, want := s.By("depth", "queue", "name"), map[string]float64{"x/a": 1, "y/a": 2, "x/b": 4}; !maps.Equal(got, want) {
			t.Errorf("%s: by queue and name %v, want %v", from, got, want)
		}
	}
}

func TestScrapeFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/text" {
			_, _ = w.Write([]byte("no metrics"))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]string{"/text": "expected", "/missing": "404 Not Found"} {
		if s, err := metricstest.Scrape(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v, want %q", path, s, err, want)
		}
	}
}
