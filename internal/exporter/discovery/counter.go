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

// newDiscoveries returns a counter of discoveries by result.
func newDiscoveries() *prometheus.CounterVec {
	m := catalog.ExporterDiscoveries
	count := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.LabelNames())
	for _, result := range m.Values("result") {
		count.WithLabelValues(result)
	}
	return count
}
