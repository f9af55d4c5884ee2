package catalog

import "time"

const day = 24 * time.Hour

// burnRates are those of the Site Reliability Workbook for a budget of 30 days.
var burnRates = []BurnRate{
	{Factor: 14.4, Long: time.Hour, Short: 5 * time.Minute, For: 2 * time.Minute, Severity: Page},
	{Factor: 6, Long: 6 * time.Hour, Short: 30 * time.Minute, For: 15 * time.Minute, Severity: Page},
	{Factor: 3, Long: day, Short: 2 * time.Hour, For: time.Hour, Severity: Ticket},
	{Factor: 1, Long: 3 * day, Short: 6 * time.Hour, For: 3 * time.Hour, Severity: Ticket},
}

// Objectives are the objectives, by the name that rules, panels and tests use. They must not be modified.
var Objectives = objectives{
	SyncLag: Objective{
		ID: "sync_lag", Title: "Sync lag",
		Metric: InformerSyncLag.Metric, Threshold: 5, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	EventLag: Objective{
		ID: "event_lag", Title: "Event lag p99",
		Metric: InformerEventLag.Metric, Threshold: 5, Unit: "s", Quantile: .99, MinCount: 100,
		BurnRates: burnRates, Source: "operating experience",
	},
	WatchDisconnects: Objective{
		ID: "watch_disconnects", Title: "Watch disconnects per minute",
		Metric: InformerWatchDisconnects.Metric, Threshold: 10, Unit: "cpm", Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	SyncDuration: Objective{
		ID: "sync_duration", Title: "Duration of the last sync",
		Metric: InformerLastSyncDuration.Metric, Threshold: 30, Unit: "s", Window: time.Hour,
		Severity: Ticket, Source: "operating experience",
	},
	SyncDurationQuantile: Objective{
		ID: "sync_duration_p99", Title: "Sync duration p99",
		Metric: InformerSyncDuration.Metric, Threshold: 30, Unit: "s", Quantile: .99,
		Severity: Ticket, Source: "operating experience",
	},
	NotSynced: Objective{
		ID: "not_synced", Title: "Informer synced after start",
		Metric: InformerSynced.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	WatchDown: Objective{
		ID: "watch_down", Title: "Watch connected",
		Metric: InformerWatchConnected.Metric, Threshold: 1, Below: true, Fixed: true, For: time.Minute,
		Severity: Ticket, Source: "client-go: backoff of at most 60 s",
	},
	// More than half, so that a program with a missing resource or a lost token beside a healthy one does not count as an outage.
	APIUnreachable: Objective{
		ID: "api_unreachable", Title: "Programs without a connection to the API server",
		Metric: InformerWatchConnected.Metric, Threshold: .5, Unit: "percentunit", Window: 5 * time.Minute, For: 3 * time.Minute,
		Severity: Page, Source: "operating experience",
	},
	CoverageGap: Objective{
		ID: "coverage_gap", Title: "Coverage gap p99",
		Metric: InformerCoverageGap.Metric, Threshold: .5, Unit: "s", Quantile: .99, Window: 15 * time.Minute, For: time.Minute,
		Severity: Info, Source: "operating experience",
	},
	CacheDiffers: Objective{
		ID: "cache_differs", Title: "Cache differences from the API server",
		Metric: InformerAuditDifferences.Metric, Threshold: 0, Fixed: true,
		Severity: Page, Source: "operating experience",
	},
	// Two, so that a restart of the API server does not count. By default, the exporter runs three audits in the window.
	AuditsFail: Objective{
		ID: "audits_fail", Title: "Failed audits",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 30 * time.Minute, MinCount: 2, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	CacheMutations: Objective{
		ID: "cache_mutations", Title: "Cached objects changed in place",
		Metric: InformerMutations.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	HandlerDuration: Objective{
		ID: "handler_duration", Title: "Handler duration p99",
		Metric: InformerHandlerDuration.Metric, Threshold: .12, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	HandlerPanics: Objective{
		ID: "handler_panics", Title: "Handler panics",
		Metric: InformerHandlerPanics.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	EventsLost: Objective{
		ID: "events_lost", Title: "Lost events",
		Metric: InformerEventsLost.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	VersionRegressions: Objective{
		ID: "version_regressions", Title: "Resource version regressions",
		Metric: InformerResourceVersionRegressions.Metric, Threshold: 0, Fixed: true, Window: 10 * time.Minute,
		Severity: Page, Source: "operating experience",
	},
	TransformDrops: Objective{
		ID: "transform_drops", Title: "Objects dropped by a transform",
		Metric: InformerTransformDrops.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	ListWatchErrors: Objective{
		ID: "list_watch_errors", Title: "List and watch error rate",
		Metric: InformerSyncErrors.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 5, For: 15 * time.Minute,
		Severity: Ticket, Source: "kube-state-metrics",
	},
	QueueDepth: Objective{
		ID: "queue_depth", Title: "Queue depth",
		Metric: UpstreamQueueDepth.Metric, Threshold: 1000, Unit: "short", Window: 10 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	// component-base's buckets grow tenfold and end at 10 s, which a quantile never exceeds. That leaves 1 s, which is also a
	// bound of controller-runtime's buckets.
	QueueWait: Objective{
		ID: "queue_wait_p99", Title: "Queue latency p99",
		Metric: UpstreamQueueLatency.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "component-base: last bucket below the top",
	},
	QueueBlocked: Objective{
		ID: "queue_blocked", Title: "Blocked queues",
		Metric: UpstreamQueueDepth.Metric, Threshold: 0, Fixed: true, Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	WorkerBusy: Objective{
		ID: "worker_busy", Title: "Longest running processor",
		Metric: UpstreamQueueLongestRunning.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	ItemsDropped: Objective{
		ID: "items_dropped", Title: "Items dropped after the last retry",
		Metric: ControllerDropped.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// MinCount is a number of failures. A single object that always fails must not reach it: with a backoff of at most 30 s,
	// it fails ten times in the window; with client-go's default, 16 times in its first five minutes and rarely after that.
	ReconcileErrors: Objective{
		ID: "reconcile_errors", Title: "Reconcile error rate",
		Metric: ControllerReconcile.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 10 * time.Minute,
		Severity: Ticket, Source: "prometheus-operator",
	},
	ReconcilePanics: Objective{
		ID: "reconcile_panics", Title: "Reconcile panics",
		Metric: ControllerReconcile.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	CleanupOverdue: Objective{
		ID: "cleanup_overdue", Title: "Finalizer cleanup deadlines exceeded",
		Metric: ControllerFinalizerOverdue.Metric, Threshold: 0, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	LeaderMissing: Objective{
		ID: "leader_missing", Title: "Leaders per lock",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, Window: day, For: 2 * time.Minute,
		Severity: Page, Source: "client-go: eight times the lease duration of 15 s",
	},
	LeaderChanges: Objective{
		ID: "leader_changes", Title: "Leader transitions in 15 minutes",
		Metric: ControllerLeaderTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "etcd mixin",
	},
	SlowRenewals: Objective{
		ID: "leader_slow_renewals", Title: "Slow lock renewals in 15 minutes",
		Metric: ControllerLeaderSlowRenewals.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "client-go: gives up the lock after 10 s without a renewal",
	},
	LeaseUnheld: Objective{
		ID: "lease_expired", Title: "Expired Leases",
		Metric: LeaseExpired.Metric, Threshold: 0, Fixed: true, Window: day, For: time.Minute,
		Severity: Ticket, Source: "client-go: four times the lease duration of 15 s",
	},
	LeaseChanges: Objective{
		ID: "lease_changes", Title: "Lease transitions in 15 minutes",
		Metric: LeaseTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "etcd mixin",
	},
	ObjectHeld: Objective{
		ID: "object_held", Title: "Age of the oldest terminating object",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	// Longer than for a terminating object: such an object usually blocks the Namespace, and its alert inhibits this one.
	NamespaceStuck: Objective{
		ID: "namespace_stuck", Title: "Age of the oldest terminating Namespace",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: 2 * time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	GenerationLag: Objective{
		ID: "generation_lag", Title: "Observed generation lag",
		Metric: ObjectGenerationLagOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "operating experience",
	},
	ClientErrors: Objective{
		ID: "client_errors", Title: "API request error rate",
		Metric: ClientRequests.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 100, For: 15 * time.Minute,
		Severity: Ticket, Source: "kubernetes-mixin",
	},
	ClientThrottle: Objective{
		ID: "client_throttle_wait_p99", Title: "Client-side throttling p99",
		Metric: ClientThrottleWait.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "client-go: logs waits of this length",
	},
	ExporterKindDown: Objective{
		ID: "exporter_kind_down", Title: "Resources available to the exporter",
		Metric: ExporterKindUp.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	ExporterConfigReload: Objective{
		ID: "exporter_config_reload", Title: "Successful configuration reload",
		Metric: ExporterConfigReloaded.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "Prometheus practice",
	},
	ExporterLeaderMissing: Objective{
		ID: "exporter_leader_missing", Title: "Leader of the exporter replicas",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	ExporterShardMissing: Objective{
		ID: "exporter_shard_missing", Title: "Missing exporter shards",
		Metric: ExporterShards.Metric, Threshold: 0, Fixed: true, For: 10 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	ExporterAbsent: Objective{
		ID: "exporter_absent", Title: "Exporters present",
		Metric: ExporterBuildInfo.Metric, Threshold: 1, Below: true, Fixed: true, Window: 7 * day, For: 5 * time.Minute,
		Severity: Ticket, Source: "Prometheus practice",
	},
}

// objectives has the fields of Objectives, in the order of All.
type objectives struct {
	NotSynced,
	ListWatchErrors,
	SyncDuration,
	SyncDurationQuantile,
	APIUnreachable,
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
	ExporterShardMissing Objective
}

// All returns every objective, by family of the metric in reading order and within a family by ID. The slice is the caller's.
func (o objectives) All() []Objective {
	return []Objective{
		o.NotSynced,
		o.ListWatchErrors,
		o.SyncDuration,
		o.SyncDurationQuantile,
		o.APIUnreachable,
		o.CoverageGap,
		o.WatchDisconnects,
		o.WatchDown,
		o.EventLag,
		o.SyncLag,
		o.AuditsFail,
		o.CacheDiffers,
		o.EventsLost,
		o.HandlerDuration,
		o.HandlerPanics,
		o.VersionRegressions,
		o.CacheMutations,
		o.TransformDrops,
		o.ItemsDropped,
		o.ReconcileErrors,
		o.ReconcilePanics,
		o.CleanupOverdue,
		o.ExporterLeaderMissing,
		o.LeaderChanges,
		o.LeaderMissing,
		o.SlowRenewals,
		o.LeaseChanges,
		o.LeaseUnheld,
		o.GenerationLag,
		o.NamespaceStuck,
		o.ObjectHeld,
		o.ClientErrors,
		o.ClientThrottle,
		o.QueueBlocked,
		o.QueueDepth,
		o.QueueWait,
		o.WorkerBusy,
		o.ExporterAbsent,
		o.ExporterConfigReload,
		o.ExporterKindDown,
		o.ExporterShardMissing,
	}
}
