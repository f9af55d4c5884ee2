package checks

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Metrics are the series that the checks of informers with the same labels share. The series of a check exist once one of
// the informers runs it.
type Metrics struct {
	// Each creates the series of a check and is called before the check first runs.
	addFreshness, addAudits, addMutations func()

	freshness, audits     *core.CounterSet
	auditDuration         prometheus.Observer
	collisions, mutations prometheus.Counter
}

// NewMetrics returns series with the given values of the labels informer_type and watch_namespace. The caller
// closes the gate and deletes them.
func NewMetrics(v *core.Vectors, gate *core.Gate, informerType, watchNamespace string) *Metrics {
	m := &Metrics{}
	m.addFreshness = sync.OnceFunc(func() {
		m.freshness = v.CounterSet(gate, catalog.InformerFreshnessChecks, informerType, watchNamespace)
	})
	m.addAudits = sync.OnceFunc(func() {
		m.audits = v.CounterSet(gate, catalog.InformerAudits, informerType, watchNamespace)
		m.auditDuration = v.Summary(catalog.InformerAuditDuration, informerType, watchNamespace)
		m.collisions = v.Counter(catalog.InformerKeyCollisions, informerType, watchNamespace)
	})
	m.addMutations = sync.OnceFunc(func() {
		m.mutations = v.Counter(catalog.InformerMutations, informerType, watchNamespace)
	})
	return m
}
