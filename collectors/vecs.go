package collectors

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// vecs holds the Prometheus metrics of an Observer. It is the only place that turns the catalog's values into metrics,
// but for client-go's own, see upstream, and those of the package objects.
type vecs struct {
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
	// read are the metrics without state here: their values are read at the time of the scrape.
	read map[string]*prometheus.Desc
}

// newVecs builds the metrics that carry the label name, with that label fixed.
func newVecs(name string) *vecs {
	v := &vecs{
		counters:   map[string]*prometheus.CounterVec{},
		histograms: map[string]*prometheus.HistogramVec{},
		read:       map[string]*prometheus.Desc{},
	}
	constant := prometheus.Labels{catalog.LabelName.Name: name}
	for _, m := range catalog.All() {
		labels := m.LabelNames()
		at := slices.Index(labels, catalog.LabelName.Name)
		if at < 0 || m.Family == catalog.Upstream || m.Family == catalog.Objects {
			continue
		}
		labels = slices.Delete(labels, at, at+1)
		switch {
		case m.Type == catalog.TypeGauge, m.Name == catalog.InformerCacheHits.Name, m.Name == catalog.InformerCacheMisses.Name:
			// Reads by key are counted in bare atomics: calling a Counter costs a tenth of such a read.
			v.read[m.Name] = prometheus.NewDesc(m.Name, m.Help, labels, constant)
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

// counter returns one series, created at 0. The values are those of the metric's labels without name.
func (v *vecs) counter(m catalog.Counter, values ...string) prometheus.Counter {
	return v.counters[m.Name].WithLabelValues(values...)
}

// counterSet returns one series for each value of the metric's last label, which must have a closed set.
func (v *vecs) counterSet(m catalog.Counter, values ...string) map[string]prometheus.Counter {
	last := m.Labels[len(m.Labels)-1]
	set := make(map[string]prometheus.Counter, len(last.Values))
	for _, value := range last.Values {
		set[value] = v.counter(m, append(slices.Clone(values), value)...)
	}
	return set
}

// histogram returns one series, created without observations.
func (v *vecs) histogram(m catalog.Histogram, values ...string) prometheus.Observer {
	return v.histograms[m.Name].WithLabelValues(values...)
}

// histogramSet returns one series for each value of the metric's last label, which must have a closed set.
func (v *vecs) histogramSet(m catalog.Histogram, values ...string) map[string]prometheus.Observer {
	last := m.Labels[len(m.Labels)-1]
	set := make(map[string]prometheus.Observer, len(last.Values))
	for _, value := range last.Values {
		set[value] = v.histogram(m, append(slices.Clone(values), value)...)
	}
	return set
}

// sample returns the value of a gauge, which is read at the time of the scrape.
func (v *vecs) sample(m catalog.Gauge, value float64, values ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.read[m.Name], prometheus.GaugeValue, value, values...)
}

// total returns the value of a counter that is read at the time of the scrape.
func (v *vecs) total(m catalog.Counter, value float64, values ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.read[m.Name], prometheus.CounterValue, value, values...)
}

// forget deletes one series. Deleting by partial match would look at the series of all informers.
func (v *vecs) forget(m catalog.Definition, values ...string) {
	name := m.Define().Name
	if c, ok := v.counters[name]; ok {
		c.DeleteLabelValues(values...)
	} else if h, ok := v.histograms[name]; ok {
		h.DeleteLabelValues(values...)
	}
}

// forgetSet deletes what counterSet or histogramSet has made.
func (v *vecs) forgetSet(m catalog.Definition, values ...string) {
	labels := m.Define().Labels
	for _, value := range labels[len(labels)-1].Values {
		v.forget(m, append(slices.Clone(values), value)...)
	}
}

// forgetAll deletes the series of a group, except those of labels with open values.
func (v *vecs) forgetAll(l labels) {
	for _, m := range catalog.All() {
		if m.Family == catalog.Series || !strings.HasPrefix(m.Name, "k8s_informer_") {
			continue // of no group
		}
		last := m.Labels[len(m.Labels)-1]
		if last.Name == catalog.LabelNamespace.Name {
			v.forget(m, l.with()...)
		}
		for _, value := range last.Values {
			v.forget(m, l.with(value)...)
		}
	}
}

func (v *vecs) describe(ch chan<- *prometheus.Desc) {
	for _, c := range v.counters {
		c.Describe(ch)
	}
	for _, h := range v.histograms {
		h.Describe(ch)
	}
	for _, r := range v.read {
		ch <- r
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
