package dashboards

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/prom"
)

const unaudited = "Cache inconsistencies"

// zeroSignals are the series that are 0 in a healthy program, by the name of the signal.
var zeroSignals = []struct{ name, expr string }{
	{"Not synced", `k8s_informer_synced{@informer} == bool 0`},
	{"Watch down", `k8s_informer_watch_connected{@informer} == bool 0`},
	{"Reads before the initial sync", prom.Occurred("k8s_informer_unsynced_reads_total{@informer}", "$__range")},
	{unaudited, `k8s_informer_audit_differences{@informer}`},
	{"Resource version regressions", prom.Occurred("k8s_informer_resource_version_regressions_total{@informer}", "$__range")},
	{"Key collisions", prom.Occurred("k8s_informer_key_collisions_total{@informer}", "$__range")},
	{"Mutated cached objects", prom.Occurred("k8s_informer_mutations_total{@informer}", "$__range")},
	{"Handler panics", prom.Occurred("k8s_informer_handler_panics_total{@informer}", "$__range")},
	{"Lost events", prom.Occurred("k8s_informer_events_lost_total{@informer}", "$__range")},
	{"Index function errors", prom.Occurred("k8s_informer_index_errors_total{@informer}", "$__range")},
	{"Unequal resync periods", `k8s_informer_resync_periods{@informer}`},
	{"Transform drops", prom.Occurred("k8s_informer_transform_drops_total{@informer}", "$__range")},
	{"Transform conflicts", prom.Occurred("k8s_informer_transform_conflicts_total{@informer}", "$__range")},
	{"Objects from other namespaces", prom.Occurred("k8s_informer_foreign_objects_total{@informer}", "$__range")},
	{"Objects without a comparable version", prom.Occurred("k8s_informer_unversioned_objects_total{@informer}", "$__range")},
	{"Duplicate informers", `k8s_informer_duplicates{@informer}`},
	{"Orphaned informers", `k8s_informer_orphans{@informer}`},
}

// mustBeZero is a table instead of a graph per signal, because most of the graphs would be empty.
func mustBeZero() panel {
	var signals []string
	for _, s := range zeroSignals {
		signals = append(signals, `label_replace(sum by (`+informerLabels+`) (`+s.expr+`) > 0, "signal", "`+s.name+`", "", "")`)
	}
	// Last, because its number is 0: what no audit compares is not known to be consistent.
	signals = append(signals, `0 * label_replace(count by (`+programLabels+`) (k8s_informer_synced{@informer} unless on (`+informerLabels+`) k8s_informer_audits_total{@informer}), "signal", "`+unaudited+`", "", "")`)
	return labelTable{header: header{id: 8, title: "Faults", unit: "short", empty: normallyEmpty,
		description: "Current states, and events in the selected time. Normally empty. Cache inconsistencies were confirmed by two consecutive audits; not checked: the program has informers without audits. Key collisions: objects overwritten by another one with the same key. Mutated cached objects were modified in place. Lost events reached no handler. Unequal resync periods: handlers without resync never see a missed event again. Transform conflicts: transforms that replaced each other. Orphaned informers outlive their context."},
		labels:  append([]column{{label: "signal", title: "Fault"}}, informerColumns()...),
		columns: []column{{title: "Number", names: map[string]string{"0": "not checked"}, query: strings.Join(signals, " or ")}},
		sortBy:  []string{"Number"},
	}
}

// informerColumns returns the labels of an informer as columns, with a link to the informer.
func informerColumns() []column {
	return []column{
		{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
		{label: "informer_type", title: "Resource", link: &link{uid: DetailUID, title: "Only this informer", sets: []string{"cluster", "name", "informer_type", "watch_namespace"}}},
		{label: "watch_namespace", title: "Namespace", narrow: true},
	}
}

func audits() panel {
	return timeSeries{header: header{id: 91, title: "Audits by result", unit: "short", empty: notChecked,
		description: "Normally consistent. different: a difference that the next audit has to confirm. skipped: the watch was down, the cache kept changing, or the server no longer had the version. error: the list failed. Not checked: audits are off, the library's default."},
		stacked: true, queries: []query{{expr: occurrences(`k8s_informer_audits_total{@informer}`, `@cluster, name, result`), legend: "{{@cluster}} {{name}} {{result}}"}},
	}
}
