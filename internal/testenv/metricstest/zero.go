package metricstest

import (
	"slices"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fromTheStart are counters with label values that are known in advance. All of them are reported as 0 before the first event: limits
// and discoveries always, transforms once one is set, and requests of a resource once there is one.
var fromTheStart = []string{
	catalog.InformerLabelOverflow.Name, catalog.ObjectOverflow.Name, catalog.ExporterDiscoveries.Name,
	catalog.InformerTransformDrops.Name, catalog.ClientConflicts.Name,
}

// onlyAboveZero are gauges that have no series at 0, except for the values in AtZero.
var onlyAboveZero = []string{catalog.InformerDuplicates.Name, catalog.InformerOrphans.Name, catalog.InformerAuditDifferences.Name, catalog.InformerFailures.Name}

// NeverAtZero reports whether no program has the series while its value is 0, such as that of a counter before its first
// increase. label returns the value of a label of the series.
func NeverAtZero(name string, label func(string) string) bool {
	m, ok := catalog.ByName(name)
	if !ok || m.Foreign() || len(m.Labels) == 0 || slices.Contains(fromTheStart, name) {
		return false
	}
	last := m.Labels[len(m.Labels)-1]
	if slices.Contains(m.AtZero, label(last.Name)) {
		return false
	}
	return slices.Contains(onlyAboveZero, name) || m.Type == catalog.TypeCounter && last.Values != nil
}
