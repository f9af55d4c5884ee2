package collectors

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// vecs holds the Prometheus metrics of an Observer. It is the only place that turns the catalog's values into metrics.
type vecs struct {
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
	// gauges have no state: their values are read at the time of the scrape.
	gauges map[string]*prometheus.Desc
}

// newVecs builds the metrics that carry the label name, with that label fixed.
func newVecs(name string) *vecs {
	v := &vecs{
		counters:   map[string]*prometheus.CounterVec{},
		histograms: map[string]*prometheus.HistogramVec{},
		gauges:     map[string]*prometheus.Desc{},
	}
	constant := prometheus.Labels{catalog.LabelName.Name: name}
	for _, m := range catalog.All() {
		labels := m.LabelNames()
		at := slices.Index(labels, catalog.LabelName.Name)
		if at < 0 {
			continue
		}
		labels = slices.Delete(labels, at, at+1)
		switch m.Kind {
		case catalog.Counter:
			v.counters[m.Name] = prometheus.NewCounterVec(
				prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: constant}, labels)
		case catalog.Histogram:
			v.histograms[m.Name] = prometheus.NewHistogramVec(
				prometheus.HistogramOpts{Name: m.Name, Help: m.Help, ConstLabels: constant, Buckets: m.Buckets}, labels)
		case catalog.Gauge:
			v.gauges[m.Name] = prometheus.NewDesc(m.Name, m.Help, labels, constant)
		}
	}
	return v
}

// counter returns one series, created at 0. The values are those of the metric's labels without name.
func (v *vecs) counter(m catalog.Metric, values ...string) prometheus.Counter {
	return v.counters[m.Name].WithLabelValues(values...)
}

// counters returns one series for each value of the metric's last label, which must have a closed set.
func (v *vecs) counterSet(m catalog.Metric, values ...string) map[string]prometheus.Counter {
	last := m.Labels[len(m.Labels)-1]
	set := make(map[string]prometheus.Counter, len(last.Values))
	for _, value := range last.Values {
		set[value] = v.counter(m, append(slices.Clone(values), value)...)
	}
	return set
}

// histogram returns one series, created without observations.
func (v *vecs) histogram(m catalog.Metric, values ...string) prometheus.Observer {
	return v.histograms[m.Name].WithLabelValues(values...)
}

// gauge returns the sample of a gauge for this scrape.
func (v *vecs) gauge(m catalog.Metric, value float64, values ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.gauges[m.Name], prometheus.GaugeValue, value, values...)
}

// forget deletes all series with the given labels.
func (v *vecs) forget(labels prometheus.Labels) {
	for _, c := range v.counters {
		c.DeletePartialMatch(labels)
	}
	for _, h := range v.histograms {
		h.DeletePartialMatch(labels)
	}
}

func (v *vecs) describe(ch chan<- *prometheus.Desc) {
	for _, c := range v.counters {
		c.Describe(ch)
	}
	for _, h := range v.histograms {
		h.Describe(ch)
	}
	for _, g := range v.gauges {
		ch <- g
	}
}

func (v *vecs) collect(ch chan<- prometheus.Metric) {
	for _, c := range v.counters {
		c.Collect(ch)
	}
	for _, h := range v.histograms {
		h.Collect(ch)
	}
}
