package catalog

import (
	"slices"
	"time"
)

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
	// Below tells that values under Threshold are bad, not those above it.
	Below bool
	// Inclusive tells that Threshold itself is bad already, as it is for a number of events that must not be reached.
	Inclusive bool
	// Fixed tells that Threshold is a fact and not a choice: something is up or down, or must never happen.
	Fixed bool
	// Quantile is the quantile of a histogram that is compared, 0 if it is not a quantile.
	Quantile float64
	// Window is the range that a rate, an increase or a quantile is taken over, 0 if the metric is compared as it is.
	Window time.Duration
	// MinCount is how many events the window must hold before a share or a quantile of them means anything.
	MinCount float64
	// For is how long the threshold must be exceeded before it matters.
	For time.Duration
	// Severity is that of the alert.
	Severity Severity
	// BurnRates replace Window, For and Severity where the objective is a share of events, that given by Quantile, over a
	// long time: each alerts when the error budget is used up faster than its factor allows.
	BurnRates []BurnRate
	// Source says where the number comes from.
	Source string
	// Covers are the ids of the requirements that the objective answers.
	Covers []string
}

// BurnRate is one pair of windows over which the use of an error budget is watched. The long one tells that the loss
// matters, the short one that it still goes on.
type BurnRate struct {
	// Factor is the speed: at 1 the budget of the whole period is just used up at its end.
	Factor float64
	// Long and Short are the two windows; both must exceed the factor.
	Long, Short time.Duration
	// For is how long both must exceed it.
	For time.Duration
	// Severity is that of the alert.
	Severity Severity
}

const day = 24 * time.Hour

// burnRates are those of the Site Reliability Workbook for a budget of 30 days.
var burnRates = []BurnRate{
	{Factor: 14.4, Long: time.Hour, Short: 5 * time.Minute, For: 2 * time.Minute, Severity: Page},
	{Factor: 6, Long: 6 * time.Hour, Short: 30 * time.Minute, For: 15 * time.Minute, Severity: Page},
	{Factor: 3, Long: day, Short: 2 * time.Hour, For: time.Hour, Severity: Ticket},
	{Factor: 1, Long: 3 * day, Short: 6 * time.Hour, For: 3 * time.Hour, Severity: Ticket},
}

const documented = "documented"

// The objectives.
var (
	SyncLag = Objective{
		ID: "sync_lag", Title: "Sync lag",
		Metric: InformerSyncLag.Metric, Threshold: 5, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S5"},
	}
	EventLag = Objective{
		ID: "event_lag", Title: "Event lag, 99th percentile",
		Metric: InformerEventLag.Metric, Threshold: 5, Unit: "s", Quantile: .99, MinCount: 100,
		BurnRates: burnRates, Source: documented, Covers: []string{"S3", "S5", "S15"},
	}
	WatchDisconnects = Objective{
		ID: "watch_disconnects", Title: "Watch disconnects per minute",
		Metric: InformerWatchDisconnects.Metric, Threshold: 10, Unit: "cpm", Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S6"},
	}
	SyncDuration = Objective{
		ID: "sync_duration", Title: "Duration of the last sync",
		Metric: InformerLastSyncDuration.Metric, Threshold: 30, Unit: "s", Window: time.Hour,
		Severity: Ticket, Source: documented, Covers: []string{"S2"},
	}
	SyncDurationQuantile = Objective{
		ID: "sync_duration_p99", Title: "Sync duration, 99th percentile",
		Metric: InformerSyncDuration.Metric, Threshold: 30, Unit: "s", Quantile: .99,
		Severity: Ticket, Source: documented, Covers: []string{"S2"},
	}
	NotSynced = Objective{
		ID: "not_synced", Title: "Not synced after the start",
		Metric: InformerSynced.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Page, Source: documented, Covers: []string{"S2"},
	}
	WatchDown = Objective{
		ID: "watch_down", Title: "Watch not connected",
		Metric: InformerWatchConnected.Metric, Threshold: 1, Below: true, Fixed: true, For: time.Minute,
		Severity: Ticket, Source: "client-go's back-off, 60 s at most", Covers: []string{"S6"},
	}
	CoverageGap = Objective{
		ID: "coverage_gap", Title: "Coverage gap, 99th percentile",
		Metric: InformerCoverageGap.Metric, Threshold: .5, Unit: "s", Quantile: .99, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S14"},
	}
	CacheDiffers = Objective{
		ID: "cache_differs", Title: "Cache differs from the API server",
		Metric: InformerAuditDifferences.Metric, Threshold: 0, Fixed: true,
		Severity: Page, Source: documented, Covers: []string{"S11", "S19", "P3", "P8", "P9"},
	}
	// Twice, so that a restart of the API server is none; three audits in the window are what the exporter makes by default.
	AuditsFail = Objective{
		ID: "audits_fail", Title: "Caches whose audits all fail",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 30 * time.Minute, MinCount: 2, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"S11"},
	}
	CacheMutations = Objective{
		ID: "cache_mutations", Title: "Cached objects changed in place",
		Metric: InformerMutations.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"P7"},
	}
	HandlerDuration = Objective{
		ID: "handler_duration", Title: "Handler duration, 99th percentile",
		Metric: InformerHandlerDuration.Metric, Threshold: .12, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"B7"},
	}
	HandlerPanics = Objective{
		ID: "handler_panics", Title: "Panics of handlers",
		Metric: InformerHandlerPanics.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"S21"},
	}
	EventsLost = Objective{
		ID: "events_lost", Title: "Events lost from view",
		Metric: InformerEventsLost.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"S19"},
	}
	VersionRegressions = Objective{
		ID: "version_regressions", Title: "resourceVersions that went back",
		Metric: InformerResourceVersionRegressions.Metric, Threshold: 0, Fixed: true, Window: 10 * time.Minute,
		Severity: Page, Source: documented, Covers: []string{"S12"},
	}
	TransformDrops = Objective{
		ID: "transform_drops", Title: "Objects dropped by a Transform function",
		Metric: InformerTransformDrops.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"P2"},
	}
	ListWatchErrors = Objective{
		ID: "list_watch_errors", Title: "Share of list and watch attempts that fail",
		Metric: InformerSyncErrors.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 5, For: 15 * time.Minute,
		Severity: Page, Source: "kube-state-metrics", Covers: []string{"S4"},
	}
	QueueDepth = Objective{
		ID: "queue_depth", Title: "Queue depth",
		Metric: UpstreamQueueDepth.Metric, Threshold: 1000, Unit: "short", Window: 10 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S7"},
	}
	// component-base's buckets rise tenfold up to 10 s. That one is the top, which a quantile never exceeds, so 1 s it is.
	// controller-runtime's go further and have this bound too.
	QueueWait = Objective{
		ID: "queue_wait_p99", Title: "Wait in the queue, 99th percentile",
		Metric: UpstreamQueueLatency.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Page, Source: "the last bucket of component-base below its top", Covers: []string{"S7"},
	}
	QueueBlocked = Objective{
		ID: "queue_blocked", Title: "Queue whose workers take nothing any more",
		Metric: UpstreamQueueDepth.Metric, Threshold: 0, Fixed: true, Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Page, Source: "must not happen", Covers: []string{"S7", "S8"},
	}
	WorkerBusy = Objective{
		ID: "worker_busy", Title: "Time that a worker is busy with one item",
		Metric: UpstreamQueueLongestRunning.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "documented for deletions", Covers: []string{"S8"},
	}
	ItemsDropped = Objective{
		ID: "items_dropped", Title: "Items given up after their last retry",
		Metric: ControllerDropped.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"S8"},
	}
	// The least number is one of failures. A single object that always fails must not reach it: with a back-off of at most
	// 30 s it fails ten times in the window, with client-go's default 16 times in its first five minutes and hardly after that.
	ReconcileErrors = Objective{
		ID: "reconcile_errors", Title: "Share of reconciles that fail",
		Metric: ControllerReconcile.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 10 * time.Minute,
		Severity: Ticket, Source: "prometheus-operator", Covers: []string{"S9", "O6"},
	}
	ReconcilePanics = Objective{
		ID: "reconcile_panics", Title: "Panics of reconcilers",
		Metric: ControllerReconcile.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"S9", "S21"},
	}
	CleanupOverdue = Objective{
		ID: "cleanup_overdue", Title: "Clean-ups past their deadline",
		Metric: ControllerFinalizerOverdue.Metric, Threshold: 0, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S16"},
	}
	LeaderMissing = Objective{
		ID: "leader_missing", Title: "Leader of each lock",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, For: time.Minute,
		Severity: Page, Source: "client-go's lease, four times its 15 s", Covers: []string{"S10"},
	}
	LeaderChanges = Objective{
		ID: "leader_changes", Title: "Leader changes in a quarter of an hour",
		Metric: ControllerLeaderTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "etcd mixin", Covers: []string{"S10"},
	}
	SlowRenewals = Objective{
		ID: "leader_slow_renewals", Title: "Slow renewals of a lock in a quarter of an hour",
		Metric: ControllerLeaderSlowRenewals.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "operating practice: client-go gives a lock up after 10 s without a renewal", Covers: []string{"S10"},
	}
	LeaseUnheld = Objective{
		ID: "lease_expired", Title: "Leases that nobody holds",
		Metric: LeaseExpired.Metric, Threshold: 0, Fixed: true, Window: day, For: time.Minute,
		Severity: Page, Source: "client-go's lease, four times its 15 s", Covers: []string{"S10"},
	}
	LeaseChanges = Objective{
		ID: "lease_changes", Title: "Changes of a Lease's holder in a quarter of an hour",
		Metric: LeaseTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "etcd mixin", Covers: []string{"S10"},
	}
	ObjectHeld = Objective{
		ID: "object_held", Title: "Time that an object is held in deletion",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S16"},
	}
	// Longer than for an object that is held: it is mostly what holds the Namespace, and keeps this alert back.
	NamespaceStuck = Objective{
		ID: "namespace_stuck", Title: "Time that a Namespace is Terminating",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: 2 * time.Minute,
		Severity: Ticket, Source: documented, Covers: []string{"S16"},
	}
	GenerationLag = Objective{
		ID: "generation_lag", Title: "Time that a change of a spec is not dealt with",
		Metric: ObjectGenerationLagOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "documented for deletions", Covers: []string{"S17"},
	}
	ClientErrors = Objective{
		ID: "client_errors", Title: "Share of requests that fail or are turned away",
		Metric: ClientRequests.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 100, For: 15 * time.Minute,
		Severity: Ticket, Source: "kubernetes-mixin", Covers: []string{"S17"},
	}
	ClientThrottle = Objective{
		ID: "client_throttle_wait_p99", Title: "Wait for the client's own rate limiter, 99th percentile",
		Metric: ClientThrottleWait.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "client-go, which logs such waits", Covers: []string{"S17"},
	}
	ExporterKindDown = Objective{
		ID: "exporter_kind_down", Title: "Resource that the exporter cannot watch",
		Metric: ExporterKindUp.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"O1"},
	}
	ExporterConfigReload = Objective{
		ID: "exporter_config_reload", Title: "Configuration file of the exporter in force",
		Metric: ExporterConfigReloaded.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "Prometheus practice", Covers: []string{"O5"},
	}
	ExporterLeaderMissing = Objective{
		ID: "exporter_leader_missing", Title: "Leader among the replicas of the exporter",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"O2"},
	}
	ExporterShardMissing = Objective{
		ID: "exporter_shard_missing", Title: "Shards of the exporter that do not report",
		Metric: ExporterShards.Metric, Threshold: 0, Fixed: true, For: 10 * time.Minute,
		Severity: Ticket, Source: "must not happen", Covers: []string{"O2"},
	}
	ExporterAbsent = Objective{
		ID: "exporter_absent", Title: "Exporter absent",
		Metric: ExporterBuildInfo.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Page, Source: "Prometheus practice", Covers: []string{"O1"},
	}
)

// objectives lists every objective, by family of the metric in reading order and within a family by ID.
var objectives = []Objective{
	NotSynced,
	ListWatchErrors,
	SyncDuration,
	SyncDurationQuantile,
	CoverageGap,
	WatchDisconnects,
	WatchDown,
	EventLag,
	SyncLag,
	AuditsFail,
	CacheDiffers,
	EventsLost,
	HandlerDuration,
	HandlerPanics,
	VersionRegressions,
	CacheMutations,
	TransformDrops,
	ItemsDropped,
	ReconcileErrors,
	ReconcilePanics,
	CleanupOverdue,
	ExporterLeaderMissing,
	LeaderChanges,
	LeaderMissing,
	SlowRenewals,
	LeaseChanges,
	LeaseUnheld,
	GenerationLag,
	NamespaceStuck,
	ObjectHeld,
	ClientErrors,
	ClientThrottle,
	QueueBlocked,
	QueueDepth,
	QueueWait,
	WorkerBusy,
	ExporterAbsent,
	ExporterConfigReload,
	ExporterKindDown,
	ExporterShardMissing,
}

// Objectives returns every objective, by family of the metric in reading order and within a family by ID. The slice is
// the caller's.
func Objectives() []Objective { return slices.Clone(objectives) }
