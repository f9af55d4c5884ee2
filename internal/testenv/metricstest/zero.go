package metricstest

import (
	"slices"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fromTheStart are counters with label values that are known in advance. Their series exist at 0 before the first event:
// those of limits and discoveries always, those of transforms once one is set, those of conflicts once the resource has been
// requested, and those of bytes once a watch is open.
var fromTheStart = []string{
	catalog.InformerLabelOverflow.Name, catalog.ObjectOverflow.Name, catalog.ExporterDiscoveries.Name,
	catalog.InformerTransformDrops.Name, catalog.ClientConflicts.Name, catalog.ClientReadBytes.Name,
}

// onlyAboveZero are gauges that have no series at 0, except for the values in AtZero.
var onlyAboveZero = []string{catalog.InformerDuplicates.Name, catalog.InformerOrphans.Name, catalog.InformerAuditDifferences.Name, catalog.InformerFailures.Name}

// NeverAtZero reports whether programs omit the series while its value is 0, as they do for a counter before its first
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
