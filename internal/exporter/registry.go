package exporter

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
)

// omitted returns the names of the library's metrics that the exporter does not report. They describe how a program uses its
// informers, but the exporter has one handler per informer, reads no cache, and its transform drops no objects. Other metrics
// cover the rest: event lag and pending events cover the handlers, the last sync duration and the number of objects cover syncs,
// and audit differences with difference="key_collision" cover key collisions. List and watch requests are counted as relists,
// watches, audits and freshness checks.
func omitted() []string {
	var names []string
	for _, m := range []catalog.Definition{
		catalog.InformerHandlers, catalog.InformerHandlerDuration, catalog.InformerHandlerPanics, catalog.InformerHandlerResyncPeriod,
		catalog.InformerCacheHits, catalog.InformerCacheMisses, catalog.InformerCacheLists,
		catalog.InformerResyncPeriods, catalog.InformerUnsyncedReads, catalog.InformerIndexErrors, catalog.InformerStoreLag,
		catalog.InformerTransforms, catalog.InformerTransformConflicts, catalog.InformerTransformDrops,
		catalog.InformerSyncDuration, catalog.InformerListItems, catalog.InformerKeyCollisions,
		catalog.ClientReads,
	} {
		names = append(names, m.Define().Name)
	}
	return names
}

// registerState registers the metrics about the exporter itself.
func registerState(registry *prometheus.Registry, e *Exporter) {
	gauge := func(m catalog.Gauge, value func() float64, labels ...string) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: m.Help, ConstLabels: constLabels(m.Metric, labels)}, value)
	}
	registry.MustRegister(
		newKindUp(e.informers.List),
		newByKind(catalog.ExporterKindWithoutStatusSubresource, e.informers.List, func(values map[string]float64, t *informers.Informer) {
			if t.WithoutStatusSubresource() {
				values[t.Kind.Type()] = 1
			}
		}),
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
	)
}

func constLabels(m catalog.Metric, values []string) prometheus.Labels {
	labels := prometheus.Labels{}
	for i, name := range m.LabelNames() {
		labels[name] = values[i]
	}
	return labels
}

// newKindUp reports the availability of each kind. A kind that is watched in several namespaces is up if it is up in all of them.
func newKindUp(list func() []*informers.Informer) prometheus.Collector {
	return newByKind(catalog.ExporterKindUp, list, func(values map[string]float64, t *informers.Informer) {
		informerType := t.Kind.Type()
		if _, seen := values[informerType]; !seen {
			values[informerType] = 1
		}
		if !t.Availability.Up() {
			values[informerType] = 0
		}
	})
}

// byKind reports a value for each kind, which add determines from its informers.
type byKind struct {
	desc *prometheus.Desc
	list func() []*informers.Informer
	add  func(values map[string]float64, t *informers.Informer)
}

func newByKind(m catalog.Gauge, list func() []*informers.Informer, add func(map[string]float64, *informers.Informer)) prometheus.Collector {
	return &byKind{prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil), list, add}
}

// Describe implements prometheus.Collector.
func (k *byKind) Describe(descs chan<- *prometheus.Desc) { descs <- k.desc }

// Collect implements prometheus.Collector.
func (k *byKind) Collect(metrics chan<- prometheus.Metric) {
	values := map[string]float64{}
	for _, t := range k.list() {
		k.add(values, t)
	}
	for informerType, value := range values {
		metrics <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, value, informerType)
	}
}
