package discovery

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Values of the label result of catalog.ExporterDiscoveries.
const (
	// complete means that the response covers every group.
	complete = "complete"
	// partial means that some groups are missing because an aggregated API server is down.
	partial = "partial"
	// failed means that there was no response.
	failed = "error"
)

// discoveryCounter counts discoveries by result.
type discoveryCounter struct{ complete, partial, failed prometheus.Counter }

func newDiscoveryCounter() discoveryCounter {
	m := catalog.ExporterDiscoveries
	counter := func(result string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: prometheus.Labels{m.LabelNames()[0]: result}})
	}
	return discoveryCounter{counter(complete), counter(partial), counter(failed)}
}

func (c discoveryCounter) Collectors() []prometheus.Collector {
	return []prometheus.Collector{c.complete, c.partial, c.failed}
}
