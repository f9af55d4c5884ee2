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

// NewMetrics returns the series of an informer's scope.
func NewMetrics(scope *core.Scope) *Metrics {
	m := &Metrics{}
	m.addFreshness = sync.OnceFunc(func() {
		m.freshness = scope.CounterSet(catalog.InformerFreshnessChecks)
	})
	m.addAudits = sync.OnceFunc(func() {
		m.audits = scope.CounterSet(catalog.InformerAudits)
		m.auditDuration = scope.Summary(catalog.InformerAuditDuration)
		m.collisions = scope.Counter(catalog.InformerKeyCollisions)
	})
	m.addMutations = sync.OnceFunc(func() {
		m.mutations = scope.Counter(catalog.InformerMutations)
	})
	return m
}
