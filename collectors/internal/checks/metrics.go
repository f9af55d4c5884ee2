package checks

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Metrics are the series that the checks of informers with the same labels share.
type Metrics struct {
	freshness             map[string]prometheus.Counter
	audits                map[string]prometheus.Counter
	auditDuration         prometheus.Observer
	collisions, mutations prometheus.Counter
}

// NewMetrics returns the series with the given values of the labels informer_type and watch_namespace. The caller
// deletes them.
func NewMetrics(v *core.Vectors, informerType, watchNamespace string) *Metrics {
	return &Metrics{
		freshness:     v.CounterSet(catalog.InformerFreshnessChecks, informerType, watchNamespace),
		audits:        v.CounterSet(catalog.InformerAudits, informerType, watchNamespace),
		auditDuration: v.Histogram(catalog.InformerAuditDuration, informerType, watchNamespace),
		collisions:    v.Counter(catalog.InformerKeyCollisions, informerType, watchNamespace),
		mutations:     v.Counter(catalog.InformerMutations, informerType, watchNamespace),
	}
}
