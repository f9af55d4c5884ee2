package catalog

import "time"

const day = 24 * time.Hour

// burnRates are those of the Site Reliability Workbook for a budget of 30 days.
var burnRates = []BurnRate{
	{Factor: 14.4, Long: time.Hour, Short: 5 * time.Minute, PerInstance: true, For: 2 * time.Minute, Severity: Page},
	{Factor: 6, Long: 6 * time.Hour, Short: 30 * time.Minute, For: 15 * time.Minute, Severity: Page},
	{Factor: 3, Long: day, Short: 2 * time.Hour, For: time.Hour, Severity: Ticket},
	{Factor: 1, Long: 3 * day, Short: 6 * time.Hour, For: 3 * time.Hour, Severity: Ticket},
}

// Objectives are the objectives, by the name that rules, panels and tests use. They must not be modified.
var Objectives = objectives{
	SyncLag: Objective{
		ID: "sync_lag", Title: "Sync lag",
		Metric: InformerSyncLag.Metric, Threshold: 5, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "documented",
	},
	EventLag: Objective{
		ID: "event_lag", Title: "Event lag p99",
		Metric: InformerEventLag.Metric, Threshold: 5, Unit: "s", Quantile: .99, MinCount: 100,
		BurnRates: burnRates, Source: "ours",
	},
	WatchDisconnects: Objective{
		ID: "watch_disconnects", Title: "Watch disconnects per minute",
		Metric: InformerWatchDisconnects.Metric, Threshold: 10, Unit: "cpm", Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	SyncDuration: Objective{
		ID: "sync_duration", Title: "Duration of the last sync",
		Metric: InformerLastSyncDuration.Metric, Threshold: 30, Unit: "s", Window: time.Hour,
		Severity: Ticket, Source: "documented",
	},
	NotSynced: Objective{
		ID: "not_synced", Title: "Informer synced after start",
		Metric: InformerSynced.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket, Source: "ours",
	},
	WatchDown: Objective{
		ID: "watch_down", Title: "Watch connected",
		Metric: InformerWatchConnected.Metric, Threshold: 1, Below: true, Fixed: true, For: time.Minute,
		Severity: Ticket, Source: "client-go: backoff of at most 60 s",
	},
	// More than half, so that a program with a missing resource or a lost token does not count as an outage if another program is
	// healthy.
	APIUnreachable: Objective{
		ID: "api_unreachable", Title: "Programs without a connection to the API server",
		Metric: InformerWatchConnected.Metric, Threshold: .5, Unit: "percentunit", Window: 5 * time.Minute, For: 3 * time.Minute,
		Severity: Page, Source: "ours",
	},
	// MinCount is a number of gaps above the threshold. A rolling restart of API servers causes one or two.
	CoverageGap: Objective{
		ID: "coverage_gap", Title: "Coverage gap duration",
		Metric: InformerCoverageGap.Metric, Threshold: .5, Unit: "s", Quantile: .99, Window: 15 * time.Minute, MinCount: 3, For: time.Minute,
		Severity: Ticket, Source: "documented",
	},
	CacheDiffers: Objective{
		ID: "cache_differs", Title: "Cache differences from the API server",
		Metric: InformerAuditDifferences.Metric, Threshold: 0, Fixed: true,
		Severity: Page, Source: "documented",
	},
	// MinCount is two, so that a restart of the API server does not count. By default, the exporter runs three audits in the
	// window.
	AuditsFail: Objective{
		ID: "audits_fail", Title: "Failed audits",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 30 * time.Minute, MinCount: 2, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// Rules do not know the interval of audits. The window is far longer than the exporter's default of ten minutes.
	AuditsMissing: Objective{
		ID: "audits_missing", Title: "Caches without a completed audit",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 6 * time.Hour, For: time.Hour,
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
		Severity: Ticket, Source: "documented",
	},
	HandlerPanics: Objective{
		ID: "handler_panics", Title: "Handler panics",
		Metric: InformerHandlerPanics.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	EventsLost: Objective{
		ID: "events_lost", Title: "Events that never reached a handler",
		Metric: InformerEventsLost.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	VersionRegressions: Objective{
		ID: "version_regressions", Title: "Resource version regressions",
		Metric: InformerResourceVersionRegressions.Metric, Threshold: 0, Fixed: true, Window: 10 * time.Minute,
		Severity: Page, Source: "documented",
	},
	// The version of an idle resource is as old as its last list or bookmark: up to ten minutes. The window is longer, and only
	// versions from before it count.
	VersionsBehind: Objective{
		ID: "stale_after_restart", Title: "Informers with lower resource versions than before a restart",
		Metric: InformerResourceVersion.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: 10 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	UnsyncedReads: Objective{
		ID: "unsynced_reads", Title: "Reads before the initial sync",
		Metric: InformerUnsyncedReads.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// A program may add a few handlers while it runs, as for custom resources.
	HandlerGrowth: Objective{
		ID: "handler_growth", Title: "Handlers added in an hour",
		Metric: InformerHandlers.Metric, Threshold: 10, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "ours",
	},
	Duplicates: Objective{
		ID: "informer_duplicates", Title: "Duplicate informers",
		Metric: InformerDuplicates.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Info, Source: "ours",
	},
	Orphans: Objective{
		ID: "informer_orphans", Title: "Orphaned informers",
		Metric: InformerOrphans.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	TransformDrops: Objective{
		ID: "transform_drops", Title: "Objects dropped by a transform",
		Metric: InformerTransformDrops.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// A state, not an event: the first transform stays replaced until the process restarts.
	TransformConflicts: Objective{
		ID: "transform_conflicts", Title: "Transforms replaced by another",
		Metric: InformerTransformConflicts.Metric, Threshold: 0, Fixed: true, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	TransformShared: Objective{
		ID: "transform_shared", Title: "Transforms on informers with several handlers",
		Metric: InformerTransforms.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Info, Source: "ours",
	},
	ResyncPeriods: Objective{
		ID: "resync_periods", Title: "Different resync periods on one informer",
		Metric: InformerResyncPeriods.Metric, Threshold: 1, Fixed: true, For: 15 * time.Minute,
		Severity: Info, Source: "ours",
	},
	ForeignObjects: Objective{
		ID: "foreign_objects", Title: "Objects from other namespaces",
		Metric: InformerForeignObjects.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// MinCount is a number of errors: two exceed the share of fewer than 200 attempts. A healthy process makes about one
	// attempt per resource in the window.
	ListWatchErrors: Objective{
		ID: "list_watch_errors", Title: "List and watch error rate",
		Metric: InformerSyncErrors.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 2, For: 15 * time.Minute,
		Severity: Ticket, Source: "kube-state-metrics",
	},
	// Only the presence of buckets counts. The threshold is a bucket, as for every histogram.
	HistogramBuckets: Objective{
		ID: "histogram_buckets", Title: "Histograms with buckets",
		Metric: UpstreamQueueLatency.Metric, Threshold: 1, Below: true, Fixed: true, For: 15 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	QueueDepth: Objective{
		ID: "queue_depth", Title: "Queue depth",
		Metric: UpstreamQueueDepth.Metric, Threshold: 1000, Unit: "short", Window: 10 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	// component-base's bucket bounds are powers of ten and end at 10 s, which a quantile never exceeds. That leaves 1 s, which is
	// also a bound of controller-runtime's buckets.
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
		Severity: Ticket, Source: "ours",
	},
	// The API server checks every five minutes.
	CacheInconsistent: Objective{
		ID: "watch_cache_inconsistent", Title: "Failed consistency checks of the API server",
		Metric: ServerConsistencyChecks.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// A client that cannot keep up reconnects and loses its watch again within minutes. A single termination may be that of a suspended client.
	WatchersTerminated: Objective{
		ID: "watchers_terminated", Title: "Watches terminated by the API server in 15 minutes",
		Metric: ServerTerminatedWatchers.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "ours",
	},
	// With client-go's default backoff an item reaches the threshold within a second. One that is still retried minutes later keeps
	// failing.
	ItemRetries: Objective{
		ID: "item_retries", Title: "Retries of one item",
		Metric: ControllerItemRetriesMax.Metric, Threshold: 6, Unit: "short", For: 10 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	WorkersMissing: Objective{
		ID: "workers_missing", Title: "Running workers",
		Metric: ControllerRunningWorkers.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket, Source: "documented",
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
	// Off by default: how long a reconcile may take is known only to its controller. Has an effect for controllers with a threshold of
	// their own.
	ReconcileDuration: Objective{
		ID: "reconcile_duration", Title: "Reconcile duration p99",
		Metric: ControllerReconcileDuration.Metric, Threshold: .25, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	CleanupOverdue: Objective{
		ID: "cleanup_overdue", Title: "Cleanup deadline exceeded",
		Metric: ControllerFinalizerOverdue.Metric, Threshold: 0, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	// MinCount is a number of attempts above the threshold. A single attempt is enough above the first bucket that is at least three times the threshold.
	CleanupDuration: Objective{
		ID: "cleanup_duration", Title: "Duration of finalizer cleanups",
		Metric: ControllerFinalizerDuration.Metric, Threshold: 10, Unit: "s", Quantile: .99, Window: 15 * time.Minute, MinCount: 2, For: 5 * time.Minute,
		Severity: Ticket, Source: "documented",
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
		Metric: LeaseExpired.Metric, Threshold: 0, Fixed: true, Window: day, For: 5 * time.Minute,
		Severity: Ticket, Source: "longer than a restart or a drain takes",
	},
	LeaseChanges: Objective{
		ID: "lease_changes", Title: "Lease transitions in 15 minutes",
		Metric: LeaseTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket, Source: "etcd mixin",
	},
	ObjectHeld: Objective{
		ID: "object_held", Title: "Age of the oldest terminating object",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "documented",
	},
	// Longer than for a terminating object: such an object usually blocks the Namespace, and its alert inhibits this one.
	NamespaceStuck: Objective{
		ID: "namespace_stuck", Title: "Age of the oldest terminating Namespace",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: 2 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	GenerationLag: Objective{
		ID: "generation_lag", Title: "Observed generation lag",
		Metric: ObjectGenerationLagOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket, Source: "ours",
	},
	ClientErrors: Objective{
		ID: "client_errors", Title: "API request error rate",
		Metric: ClientRequests.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 100, For: 15 * time.Minute,
		Severity: Ticket, Source: "kubernetes-mixin",
	},
	WriteConflicts: Objective{
		ID: "write_conflicts", Title: "Conflicts, as a share of writes",
		Metric: ClientConflicts.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 15 * time.Minute,
		Severity: Ticket, Source: "documented",
	},
	ClientThrottle: Objective{
		ID: "client_throttle_wait_p99", Title: "Client-side throttling p99",
		Metric: ClientThrottleWait.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket, Source: "client-go: logs waits of this length",
	},
	SeriesLimit: Objective{
		ID: "series_limit", Title: "Items beyond a label or series limit",
		Metric: InformerLabelOverflow.Metric, Threshold: 0, Fixed: true, Window: time.Hour, For: 5 * time.Minute,
		Severity: Ticket, Source: "must not happen",
	},
	// Prometheus reports the timeout itself only with the feature extra-scrape-metrics.
	ScrapeDuration: Objective{
		ID: "scrape_duration", Title: "Duration of scrapes",
		Metric: foreign("scrape_duration_seconds", familySeries), Threshold: 5, Unit: "s", For: 15 * time.Minute,
		Severity: Ticket, Source: "half of Prometheus' default scrape timeout",
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
	// The garbage collector runs more and more often to stay below the limit, but cannot free memory that is in use.
	ExporterMemory: Objective{
		ID: "exporter_memory", Title: "Memory in use, relative to GOMEMLIMIT",
		Metric: foreign("go_memstats_heap_alloc_bytes", familyExporter), Threshold: .8, Unit: "percentunit", For: 15 * time.Minute,
		Severity: Ticket, Source: "Go: the garbage collector runs continuously near GOMEMLIMIT",
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

// objectives has a field for each objective.
type objectives struct {
	NotSynced,
	ListWatchErrors,
	SyncDuration,
	APIUnreachable,
	CoverageGap,
	WatchDisconnects,
	WatchDown,
	EventLag,
	SyncLag,
	AuditsFail,
	AuditsMissing,
	CacheDiffers,
	EventsLost,
	HandlerDuration,
	HandlerPanics,
	VersionsBehind,
	VersionRegressions,
	CacheMutations,
	UnsyncedReads,
	HandlerGrowth,
	ResyncPeriods,
	Duplicates,
	Orphans,
	TransformConflicts,
	TransformDrops,
	TransformShared,
	ForeignObjects,
	ItemRetries,
	WorkersMissing,
	ItemsDropped,
	ReconcileDuration,
	ReconcileErrors,
	ReconcilePanics,
	CleanupDuration,
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
	WriteConflicts,
	HistogramBuckets,
	QueueBlocked,
	QueueDepth,
	QueueWait,
	WorkerBusy,
	CacheInconsistent,
	WatchersTerminated,
	ScrapeDuration,
	SeriesLimit,
	ExporterAbsent,
	ExporterConfigReload,
	ExporterKindDown,
	ExporterMemory,
	ExporterShardMissing Objective
}

// All returns every objective, by family of the metric in reading order and within a family by ID. The slice is the caller's.
func (o objectives) All() []Objective {
	return []Objective{
		o.NotSynced,
		o.UnsyncedReads,
		o.ListWatchErrors,
		o.SyncDuration,
		o.APIUnreachable,
		o.CoverageGap,
		o.WatchDisconnects,
		o.WatchDown,
		o.EventLag,
		o.SyncLag,
		o.AuditsFail,
		o.AuditsMissing,
		o.CacheDiffers,
		o.EventsLost,
		o.HandlerDuration,
		o.HandlerGrowth,
		o.HandlerPanics,
		o.ResyncPeriods,
		o.VersionsBehind,
		o.VersionRegressions,
		o.CacheMutations,
		o.ForeignObjects,
		o.Duplicates,
		o.Orphans,
		o.TransformConflicts,
		o.TransformDrops,
		o.TransformShared,
		o.ItemRetries,
		o.ItemsDropped,
		o.WorkersMissing,
		o.ReconcileDuration,
		o.ReconcileErrors,
		o.ReconcilePanics,
		o.CleanupDuration,
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
		o.WriteConflicts,
		o.HistogramBuckets,
		o.QueueBlocked,
		o.QueueDepth,
		o.QueueWait,
		o.WorkerBusy,
		o.CacheInconsistent,
		o.WatchersTerminated,
		o.ScrapeDuration,
		o.SeriesLimit,
		o.ExporterAbsent,
		o.ExporterConfigReload,
		o.ExporterKindDown,
		o.ExporterMemory,
		o.ExporterShardMissing,
	}
}

// foreign returns a gauge of Prometheus or of client_golang, which All does not list.
func foreign(name string, family Family) Metric {
	return Metric{Name: name, Type: TypeGauge, Family: family}
}
