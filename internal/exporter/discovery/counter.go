package discovery

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// discoveryCounter counts discoveries by result.
type discoveryCounter struct{ complete, partial, failed prometheus.Counter }

func newDiscoveryCounter() discoveryCounter {
	m := catalog.ExporterDiscoveries
	counter := func(result string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: prometheus.Labels{m.LabelNames()[0]: result}})
	}
	return discoveryCounter{counter(catalog.DiscoveryComplete), counter(catalog.DiscoveryPartial), counter(catalog.DiscoveryFailed)}
}

func (c discoveryCounter) Collectors() []prometheus.Collector {
	return []prometheus.Collector{c.complete, c.partial, c.failed}
}
