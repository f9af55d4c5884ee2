package core

import (
	"iter"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Vectors are metrics of the catalog as Prometheus vectors. Except for package objects, decorators report only through them.
type Vectors struct {
	counters   map[string]*prometheus.CounterVec
	gauges     map[string]*prometheus.GaugeVec
	histograms map[string]*prometheus.HistogramVec
	// computed are metrics whose values are computed at scrape time.
	computed map[string]*prometheus.Desc
}

func newVectors() *Vectors {
	return &Vectors{
		counters:   map[string]*prometheus.CounterVec{},
		gauges:     map[string]*prometheus.GaugeVec{},
		histograms: map[string]*prometheus.HistogramVec{},
		computed:   map[string]*prometheus.Desc{},
	}
}

// newMetrics returns the metrics with the label name, which has the given value.
func newMetrics(name string) *Vectors {
	v := newVectors()
	constant := prometheus.Labels{catalog.LabelName.Name: name}
	for _, m := range catalog.All() {
		labels := m.LabelNames()
		at := slices.Index(labels, catalog.LabelName.Name)
		if at < 0 || m.Family == catalog.UpstreamQueueDepth.Family || m.Family == catalog.ObjectTerminating.Family {
			continue
		}
		labels = slices.Delete(labels, at, at+1)
		switch {
		case m.Type == catalog.TypeGauge, m.Name == catalog.InformerCacheHits.Name, m.Name == catalog.InformerCacheMisses.Name:
			// Reads by key are counted in plain atomics: a call of a Counter costs a tenth of such a read.
			v.computed[m.Name] = prometheus.NewDesc(m.Name, m.Help, labels, constant)
		case m.Type == catalog.TypeCounter:
			v.counters[m.Name] = prometheus.NewCounterVec(
				prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: constant}, labels)
		case m.Type == catalog.TypeHistogram:
			v.histograms[m.Name] = prometheus.NewHistogramVec(
				prometheus.HistogramOpts{Name: m.Name, Help: m.Help, ConstLabels: constant, Buckets: m.Buckets}, labels)
		}
	}
	return v
}

// Counter returns a series and creates it at 0. The values are those of the metric's labels except name. It panics if their
// number is wrong.
func (v *Vectors) Counter(m catalog.Counter, values ...string) prometheus.Counter {
	return v.counters[m.Name].WithLabelValues(valid(values)...)
}

// Gauge returns a series of client-go's own metrics and creates it at 0. All other gauges are computed at scrape time.
func (v *Vectors) Gauge(m catalog.Gauge, values ...string) prometheus.Gauge {
	return v.gauges[m.Name].WithLabelValues(valid(values)...)
}

// Histogram returns a series and creates it without observations.
func (v *Vectors) Histogram(m catalog.Histogram, values ...string) prometheus.Observer {
	return v.histograms[m.Name].WithLabelValues(valid(values)...)
}

// CounterSet returns one series for each value of the metric's last label, which must have a closed set.
func (v *Vectors) CounterSet(m catalog.Counter, values ...string) map[string]prometheus.Counter {
	set := map[string]prometheus.Counter{}
	for _, value := range closedSet(m.Metric) {
		set[value] = v.Counter(m, append(slices.Clone(values), value)...)
	}
	return set
}

// HistogramSet returns one series for each value of the metric's last label, which must have a closed set.
func (v *Vectors) HistogramSet(m catalog.Histogram, values ...string) map[string]prometheus.Observer {
	set := map[string]prometheus.Observer{}
	for _, value := range closedSet(m.Metric) {
		set[value] = v.Histogram(m, append(slices.Clone(values), value)...)
	}
	return set
}

// valid replaces values that cannot be label values. Those of open labels were replaced when they were acquired; those of
// client-go's own metrics come from the program.
func valid(values []string) []string {
	for i, value := range values {
		if v := series.Valid(value); v != value {
			values = slices.Clone(values)
			values[i] = v
		}
	}
	return values
}

func closedSet(m catalog.Metric) []string { return m.Labels[len(m.Labels)-1].Values }

// GaugeValue returns a gauge that is computed at scrape time.
func (v *Vectors) GaugeValue(m catalog.Gauge, value float64, values ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.computed[m.Name], prometheus.GaugeValue, value, values...)
}

// CounterValue returns a counter that is computed at scrape time.
func (v *Vectors) CounterValue(m catalog.Counter, value float64, values ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.computed[m.Name], prometheus.CounterValue, value, values...)
}

// Delete deletes one series. It does not use DeletePartialMatch, which would search the series of all informers.
func (v *Vectors) Delete(m catalog.Metric, values ...string) {
	values = valid(values)
	if c, ok := v.counters[m.Name]; ok {
		c.DeleteLabelValues(values...)
	} else if h, ok := v.histograms[m.Name]; ok {
		h.DeleteLabelValues(values...)
	} else if g, ok := v.gauges[m.Name]; ok {
		g.DeleteLabelValues(values...)
	}
}

// DeleteSet deletes the series that CounterSet or HistogramSet returned.
func (v *Vectors) DeleteSet(m catalog.Metric, values ...string) {
	for _, value := range closedSet(m) {
		v.Delete(m, append(slices.Clone(values), value)...)
	}
}

// Describe implements prometheus.Collector.
func (v *Vectors) Describe(ch chan<- *prometheus.Desc) {
	for c := range v.collectors() {
		c.Describe(ch)
	}
	for _, desc := range v.computed {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It sends no computed metrics.
func (v *Vectors) Collect(ch chan<- prometheus.Metric) {
	for c := range v.collectors() {
		c.Collect(ch)
	}
}

func (v *Vectors) collectors() iter.Seq[prometheus.Collector] {
	return func(yield func(prometheus.Collector) bool) {
		for _, c := range v.counters {
			if !yield(c) {
				return
			}
		}
		for _, g := range v.gauges {
			if !yield(g) {
				return
			}
		}
		for _, h := range v.histograms {
			if !yield(h) {
				return
			}
		}
	}
}
