package core

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Vectors are metrics of the catalog as Prometheus vectors. Except for package objects, decorators report only through them.
type Vectors struct {
	vectors map[string]vector // by name
	// computed are metrics with values that are computed at scrape time.
	computed map[string]*prometheus.Desc
}

// vector is a vector of any type.
type vector interface {
	prometheus.Collector
	DeleteLabelValues(values ...string) bool
}

func newVectors() *Vectors {
	return &Vectors{vectors: map[string]vector{}, computed: map[string]*prometheus.Desc{}}
}

// add adds a metric.
func (v *Vectors) add(m catalog.Metric, labels []string, constant prometheus.Labels, form Histograms) {
	options := prometheus.Opts{Name: m.Name, Help: m.Help, ConstLabels: constant}
	switch m.Type {
	case catalog.TypeCounter:
		v.vectors[m.Name] = prometheus.NewCounterVec(prometheus.CounterOpts(options), labels)
	case catalog.TypeGauge:
		v.vectors[m.Name] = prometheus.NewGaugeVec(prometheus.GaugeOpts(options), labels)
	case catalog.TypeHistogram:
		v.vectors[m.Name] = form.NewHistogram(m, labels, constant)
	case catalog.TypeSummary:
		v.vectors[m.Name] = prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: m.Name, Help: m.Help, ConstLabels: constant}, labels)
	}
}

// Reported reports whether Observers report the metric. All such metrics have the label name.
func Reported(m catalog.Metric) bool {
	return slices.Contains(m.LabelNames(), catalog.LabelName.Name) && !m.Foreign() &&
		m.Family != catalog.UpstreamQueueDepth.Family && m.Family != catalog.ObjectTerminating.Family
}

// newMetrics returns the metrics with the label name, except those that the options omit. Writes to an omitted metric have no
// effect.
func newMetrics(options Options) *Vectors {
	v := newVectors()
	constant := prometheus.Labels{catalog.LabelName.Name: options.Name}
	for _, m := range catalog.All() {
		if !Reported(m) || slices.Contains(options.Omit, m.Name) || options.Essential && !m.Essential {
			continue
		}
		if options.Essential {
			m.Buckets = m.EssentialBuckets
		}
		labels := slices.DeleteFunc(m.LabelNames(), func(l string) bool { return l == catalog.LabelName.Name })
		if m.Type == catalog.TypeGauge || m.Name == catalog.InformerCacheHits.Name || m.Name == catalog.InformerCacheMisses.Name ||
			m.Family == catalog.TraceSpansDropped.Family {
			// Reads by key are counted in package reads: goroutines would wait for each other's additions to a Counter.
			// Spans are counted by the Tracer.
			v.computed[m.Name] = prometheus.NewDesc(m.Name, m.Help, labels, constant)
		} else {
			v.add(m, labels, constant, options.Histograms)
		}
	}
	return v
}

// Counts reports whether the counter is reported, and not omitted.
func (v *Vectors) Counts(m catalog.Counter) bool { return v.vectors[m.Name] != nil }

// Counter returns a series and creates it at 0; it lives as long as the Observer. The values are those of the metric's labels except
// name. It panics if their number is wrong.
func (v *Vectors) Counter(m catalog.Counter, values ...string) prometheus.Counter {
	return v.counter(m.Name, values)
}

func (v *Vectors) counter(name string, values []string) prometheus.Counter {
	if c, ok := v.vectors[name].(*prometheus.CounterVec); ok {
		return c.WithLabelValues(valid(values)...)
	}
	return Discard
}

// Gauge returns a series of client-go's own metrics and creates it at 0; it lives as long as the Observer. All other gauges are computed
// at scrape time.
func (v *Vectors) Gauge(m catalog.Gauge, values ...string) prometheus.Gauge {
	return v.gauge(m.Name, values)
}

func (v *Vectors) gauge(name string, values []string) prometheus.Gauge {
	return v.vectors[name].(*prometheus.GaugeVec).WithLabelValues(valid(values)...)
}

// Histogram returns a series and creates it without observations; it lives as long as the Observer.
func (v *Vectors) Histogram(m catalog.Histogram, values ...string) prometheus.Observer {
	return v.observer(m.Name, values)
}

func (v *Vectors) observer(name string, values []string) prometheus.Observer {
	if o, ok := v.vectors[name].(prometheus.ObserverVec); ok {
		return o.WithLabelValues(valid(values)...)
	}
	return Discard
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

// SendGauge sends a gauge that is computed at scrape time, unless it is omitted.
func (v *Vectors) SendGauge(ch chan<- prometheus.Metric, m catalog.Gauge, value float64, values ...string) {
	v.send(ch, m.Metric, prometheus.GaugeValue, value, values)
}

// SendCounter sends a counter that is computed at scrape time, unless it is omitted.
func (v *Vectors) SendCounter(ch chan<- prometheus.Metric, m catalog.Counter, value float64, values ...string) {
	v.send(ch, m.Metric, prometheus.CounterValue, value, values)
}

func (v *Vectors) send(ch chan<- prometheus.Metric, m catalog.Metric, as prometheus.ValueType, value float64, values []string) {
	if desc, ok := v.computed[m.Name]; ok {
		ch <- prometheus.MustNewConstMetric(desc, as, value, values...)
	}
}

// delete deletes one series. It does not use DeletePartialMatch, which would search the series of all informers.
func (v *Vectors) delete(name string, values []string) {
	if vector, ok := v.vectors[name]; ok {
		vector.DeleteLabelValues(valid(values)...)
	}
}

// Describe implements prometheus.Collector.
func (v *Vectors) Describe(ch chan<- *prometheus.Desc) {
	for _, vector := range v.vectors {
		vector.Describe(ch)
	}
	for _, desc := range v.computed {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It sends no computed metrics.
func (v *Vectors) Collect(ch chan<- prometheus.Metric) {
	for _, vector := range v.vectors {
		vector.Collect(ch)
	}
}
