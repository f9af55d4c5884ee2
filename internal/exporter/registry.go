package exporter

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
)

// newRegistry returns a registry with the metrics of the process.
func newRegistry() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		promcollectors.NewGoCollector(),
		promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}),
		buildinfo.NewCollector(),
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

// registerState registers the metrics about the exporter itself.
func registerState(registry *prometheus.Registry, e *Exporter) error {
	gauge := func(m catalog.Gauge, value func() float64, labels ...string) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: m.Help, ConstLabels: constLabels(m.Metric, labels)}, value)
	}
	collectors := []prometheus.Collector{
		newKindUp(e.informers.List),
		&statusless{desc: newDesc(catalog.ExporterKindWithoutStatusSubresource), list: e.informers.List},
		gauge(catalog.ExporterKinds, func() float64 { return float64(len(informers.Kinds(e.informers.List()))) }, "watched"),
		gauge(catalog.ExporterKinds, func() float64 { return float64(e.follower.CountForbidden()) }, "forbidden"),
		gauge(catalog.ExporterKinds, func() float64 { return float64(e.follower.CountOverLimit()) }, "over_limit"),
		gauge(catalog.ExporterShards, func() float64 { return float64(max(e.shard.Total, 1)) }, strconv.Itoa(e.shard.Ordinal)),
		gauge(catalog.ExporterWatchCacheStale, func() float64 { return e.watchCache.Stale().Seconds() }),
		gauge(catalog.ExporterConfigReloaded, func() float64 {
			if good, _ := e.reloader.Status(); good {
				return 1
			}
			return 0
		}),
		gauge(catalog.ExporterConfigReloadedTime, func() float64 {
			_, at := e.reloader.Status()
			return float64(at.UnixMilli()) / 1000
		}),
		e.follower.Count,
	}
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func constLabels(m catalog.Metric, values []string) prometheus.Labels {
	labels := prometheus.Labels{}
	for i, name := range m.LabelNames() {
		labels[name] = values[i]
	}
	return labels
}

// kindUp reports the availability of each kind. A kind that is watched in several namespaces is up if it is up in all of them.
type kindUp struct {
	desc *prometheus.Desc
	list func() []*informers.Informer
}

func newKindUp(list func() []*informers.Informer) *kindUp {
	return &kindUp{desc: newDesc(catalog.ExporterKindUp), list: list}
}

func newDesc(m catalog.Gauge) *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil)
}

// Describe implements prometheus.Collector.
func (k *kindUp) Describe(descs chan<- *prometheus.Desc) { descs <- k.desc }

// Collect implements prometheus.Collector.
func (k *kindUp) Collect(metrics chan<- prometheus.Metric) {
	up := map[string]float64{}
	for _, t := range k.list() {
		informerType := t.Kind.Type()
		if _, seen := up[informerType]; !seen {
			up[informerType] = 1
		}
		if !t.Availability.Up() {
			up[informerType] = 0
		}
	}
	for informerType, value := range up {
		metrics <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, value, informerType)
	}
}

// statusless reports the kinds with a status that is written through the main resource.
type statusless struct {
	desc *prometheus.Desc
	list func() []*informers.Informer
}

// Describe implements prometheus.Collector.
func (s *statusless) Describe(descs chan<- *prometheus.Desc) { descs <- s.desc }

// Collect implements prometheus.Collector.
func (s *statusless) Collect(metrics chan<- prometheus.Metric) {
	seen := map[string]bool{}
	for _, t := range s.list() {
		if name := t.Kind.Type(); t.WithoutStatusSubresource() && !seen[name] {
			seen[name] = true
			metrics <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, 1, name)
		}
	}
}
