package catalog

import "time"

// Severity says what an alert asks of its reader.
type Severity string

// The severities.
const (
	// Page wakes somebody up.
	Page Severity = "page"
	// Ticket waits for working hours.
	Ticket Severity = "ticket"
)

// Objective is a threshold with its origin. Every number that a rule compares with, a dashboard draws a line at, or a
// text quotes comes from here.
type Objective struct {
	// ID names the objective in the generator's configuration, in snake_case.
	ID string
	// Title is what a person calls it.
	Title string
	// Metric is what the threshold applies to.
	Metric Metric
	// Threshold is in the metric's unit, or a rate in the unit that Per names.
	Threshold float64
	// Unit is Grafana's id of the threshold's unit.
	Unit string
	// Quantile is the quantile of a histogram that is compared, 0 if it is not a quantile.
	Quantile float64
	// For is how long the threshold must be exceeded before it matters.
	For time.Duration
	// Severity is that of the alert.
	Severity Severity
	// Source says where the number comes from.
	Source string
	// Covers are the ids of the requirements that the objective answers.
	Covers []string
}

const documented = "documented"

// The objectives.
var (
	SyncLag = target(Objective{
		ID: "sync_lag", Title: "Sync lag",
		Metric: InformerSyncLag, Threshold: 5, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S5"},
	})
	EventLag = target(Objective{
		ID: "event_lag", Title: "Event lag, 99th percentile",
		Metric: InformerEventLag, Threshold: 5, Unit: "s", Quantile: .99, For: 5 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S3", "S5", "S15"},
	})
	WatchDisconnects = target(Objective{
		ID: "watch_disconnects", Title: "Watch disconnects per minute",
		Metric: InformerWatchDisconnects, Threshold: 10, Unit: "cpm", For: 5 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S6"},
	})
	SyncDuration = target(Objective{
		ID: "sync_duration", Title: "Duration of the last sync",
		Metric: InformerLastSyncDuration, Threshold: 30, Unit: "s",
		Severity: Ticket, Source: documented, Covers: []string{"S2"},
	})
	SyncDurationQuantile = target(Objective{
		ID: "sync_duration_p99", Title: "Sync duration, 99th percentile",
		Metric: InformerSyncDuration, Threshold: 30, Unit: "s", Quantile: .99,
		Severity: Ticket, Source: documented, Covers: []string{"S2"},
	})
	NotSynced = target(Objective{
		ID: "not_synced", Title: "Not synced after the start",
		Metric: InformerSynced, Threshold: 1, For: 2 * time.Minute,
		Severity: Page, Source: documented, Covers: []string{"S2"},
	})
	CoverageGap = target(Objective{
		ID: "coverage_gap", Title: "Coverage gap, 99th percentile",
		Metric: InformerCoverageGap, Threshold: .5, Unit: "s", Quantile: .99, For: 15 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S14"},
	})
	HandlerDuration = target(Objective{
		ID: "handler_duration", Title: "Handler duration, 99th percentile",
		Metric: InformerHandlerDuration, Threshold: .12, Unit: "s", Quantile: .99, For: 10 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"B7"},
	})
	ListWatchErrors = target(Objective{
		ID: "list_watch_errors", Title: "Share of list and watch attempts that fail",
		Metric: InformerSyncErrors, Threshold: .01, Unit: "percentunit", For: 15 * time.Minute,
		Severity: Page, Source: "kube-state-metrics", Covers: []string{"S4"},
	})
	ExporterAbsent = target(Objective{
		ID: "exporter_absent", Title: "Exporter absent",
		Metric: ExporterBuildInfo, Threshold: 1, For: 5 * time.Minute,
		Severity: Page, Source: "Prometheus practice", Covers: []string{"O1"},
	})
)

var objectives []Objective

func target(o Objective) Objective {
	objectives = append(objectives, o)
	return o
}

// Objectives returns every objective in the order of the source. The slice is the caller's.
func Objectives() []Objective {
	return append([]Objective(nil), objectives...)
}
