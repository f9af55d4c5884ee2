package catalog

import (
	"reflect"
	"time"
)

const day = 24 * time.Hour

// burnRates are those of the Site Reliability Workbook for a budget of 30 days.
var burnRates = []BurnRate{
	{Factor: 14.4, Long: time.Hour, Short: 5 * time.Minute, PerInstance: true, For: 2 * time.Minute, Severity: Page},
	{Factor: 6, Long: 6 * time.Hour, Short: 30 * time.Minute, For: 15 * time.Minute, Severity: Page},
	{Factor: 3, Long: day, Short: 2 * time.Hour, For: time.Hour, Severity: Ticket},
	{Factor: 1, Long: 3 * day, Short: 6 * time.Hour, For: 3 * time.Hour, Severity: Ticket},
}

// never is the source of thresholds for events that must not happen and states that must not last.
var never = Source{From: Ours}

// mustNotHappen returns the objective of an event that must not happen: a ticket for the first one in 15 minutes.
func mustNotHappen(id, title string, counter Metric) Objective {
	return Objective{ID: id, Title: title, Metric: counter, Fixed: true, Window: 15 * time.Minute, For: time.Minute, Severity: Ticket, Source: never}
}

// Objectives are the objectives, by the name that rules, panels and tests use. They must not be modified.
var Objectives = objectives{
	SyncLag: Objective{
		ID: "sync_lag", Title: "Sync lag",
		Metric: InformerSyncLag.Metric, Threshold: 5, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`informer_sync_lag` < 5 s", Differs: "0 on an idle resource, on which the time since the last event grows"},
	},
	EventLag: Objective{
		ID: "event_lag", Title: "Event lag p99",
		Metric: InformerEventLag.Metric, Threshold: 5, Unit: "s", Quantile: .99, MinCount: 100,
		BurnRates: burnRates,
		Source:    Source{From: Articles, Text: "cache delay P99", Differs: "5 s is ours: it gives none"},
	},
	WatchDisconnects: Objective{
		ID: "watch_disconnects", Title: "Watch disconnects per minute",
		Metric: InformerWatchDisconnects.Metric, Threshold: 10, Unit: "cpm", Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`watch_disconnects` < 10/min", Differs: "per informer and without planned timeouts; 0.8/min while client-go backs off after failures"},
	},
	SyncDuration: Objective{
		ID: "sync_duration", Title: "Duration of the last sync",
		Metric: InformerLastSyncDuration.Metric, Threshold: 30, Unit: "s", Window: time.Hour,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`k8s_informer_sync_duration_seconds`, p99 > 30", Differs: "reads the last sync, because a rate never shows a single sync before the first scrape"},
	},
	NotSynced: Objective{
		ID: "not_synced", Title: "Informer synced after start",
		Metric: InformerSynced.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "longer than the first list of most resources takes"},
	},
	WatchDown: Objective{
		ID: "watch_down", Title: "Watch connected",
		Metric: InformerWatchConnected.Metric, Threshold: 1, Below: true, Fixed: true, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: "client-go", Text: "backs off for at most 60 s"},
	},
	// More than half, so that a program with a missing resource or a lost token does not count as an outage if another program is
	// healthy.
	APIUnreachable: Objective{
		ID: "api_unreachable", Title: "Programs without a connection to the API server",
		Metric: InformerWatchConnected.Metric, Threshold: .5, Unit: "percentunit", Window: 5 * time.Minute, For: 3 * time.Minute,
		Severity: Page,
		Source:   Source{From: Ours, Text: "one broken program is no outage"},
	},
	// MinCount is a number of gaps above the threshold. A rolling restart of API servers causes one or two.
	CoverageGap: Objective{
		ID: "coverage_gap", Title: "Coverage gap duration",
		Metric: InformerCoverageGap.Metric, Threshold: .5, Unit: "s", Quantile: .99, Window: 15 * time.Minute, MinCount: 3, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "resource version jumps within 500 ms, else a full resync", Differs: "three gaps in 15 minutes, because each restart of an API server causes one; a resumed watch misses nothing"},
	},
	CacheDiffers: Objective{
		ID: "cache_differs", Title: "Cache differences from the API server",
		Metric: InformerAuditDifferences.Metric, Threshold: 0, Fixed: true,
		Severity: Page,
		Source:   Source{From: Articles, Text: "store object count == etcd object count; list and first watch event differ by at most 1", Differs: "compares each key, UID and version: equal counts hide differences, and all resources share etcd's revisions"},
	},
	// MinCount is two, so that a restart of the API server does not count. By default, the exporter runs three audits in the
	// window.
	AuditsFail: Objective{
		ID: "audits_fail", Title: "Failed audits",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 30 * time.Minute, MinCount: 2, For: time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	// Rules do not know the interval of audits. The window is far longer than the exporter's default of ten minutes.
	AuditsMissing: Objective{
		ID: "audits_missing", Title: "Caches without a completed audit",
		Metric: InformerAudits.Metric, Threshold: 0, Fixed: true, Window: 6 * time.Hour, For: time.Hour,
		Severity: Ticket,
		Source:   never,
	},
	CacheMutations: mustNotHappen("cache_mutations", "Cached objects changed in place", InformerMutations.Metric),
	HandlerDuration: Objective{
		ID: "handler_duration", Title: "Handler duration p99",
		Metric: InformerHandlerDuration.Metric, Threshold: .12, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "p99 of handling below 120 ms"},
	},
	HandlerPanics: mustNotHappen("handler_panics", "Handler panics", InformerHandlerPanics.Metric),
	EventsLost:    mustNotHappen("events_lost", "Events that never reached a handler", InformerEventsLost.Metric),
	VersionRegressions: Objective{
		ID: "version_regressions", Title: "Resource version regressions",
		Metric: InformerResourceVersionRegressions.Metric, Threshold: 0, Fixed: true, Window: 10 * time.Minute,
		Severity: Page,
		Source:   Source{From: Articles, Text: "resourceVersion increases monotonically", Differs: "per informer, because versions of different resources are not comparable"},
	},
	// The version of an idle resource is as old as its last list or bookmark: up to ten minutes. The window is longer, and only
	// versions from before it count.
	VersionsBehind: Objective{
		ID: "stale_after_restart", Title: "Informers with lower resource versions than before a restart",
		Metric: InformerResourceVersion.Metric, Threshold: 0, Fixed: true, Window: 15 * time.Minute, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	UnsyncedReads: mustNotHappen("unsynced_reads", "Reads before the initial sync", InformerUnsyncedReads.Metric),
	// A program may add a few handlers while it runs, as for custom resources.
	HandlerGrowth: Objective{
		ID: "handler_growth", Title: "Handlers added in an hour",
		Metric: InformerHandlers.Metric, Threshold: 10, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a program may add a few handlers while it runs"},
	},
	Duplicates: Objective{
		ID: "informer_duplicates", Title: "Duplicate informers",
		Metric: InformerDuplicates.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Info,
		Source:   Source{From: Ours, Text: "costs memory and a watch"},
	},
	Orphans: Objective{
		ID: "informer_orphans", Title: "Orphaned informers",
		Metric: InformerOrphans.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	TransformDrops: mustNotHappen("transform_drops", "Objects dropped by a transform", InformerTransformDrops.Metric),
	// A state, not an event: the first transform stays replaced until the process restarts.
	TransformConflicts: Objective{
		ID: "transform_conflicts", Title: "Transforms replaced by another",
		Metric: InformerTransformConflicts.Metric, Threshold: 0, Fixed: true, For: time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	TransformShared: Objective{
		ID: "transform_shared", Title: "Transforms on informers with several handlers",
		Metric: InformerTransforms.Metric, Threshold: 0, Fixed: true, For: 15 * time.Minute,
		Severity: Info,
		Source:   Source{From: Ours, Text: "often intended"},
	},
	ResyncPeriods: Objective{
		ID: "resync_periods", Title: "Different resync periods on one informer",
		Metric: InformerResyncPeriods.Metric, Threshold: 1, Fixed: true, For: 15 * time.Minute,
		Severity: Info,
		Source:   Source{From: Ours, Text: "often intended"},
	},
	ForeignObjects: mustNotHappen("foreign_objects", "Objects from other namespaces", InformerForeignObjects.Metric),
	// MinCount is a number of errors: two exceed the share of fewer than 200 attempts. A healthy process makes about one
	// attempt per resource in the window.
	ListWatchErrors: Objective{
		ID: "list_watch_errors", Title: "List and watch error rate",
		Metric: InformerSyncErrors.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 2, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "kube-state-metrics", Text: "KubeStateMetricsListErrors: above 1% for 15 minutes"},
	},
	// An informer with a selector learns of versions by bookmarks, about one a minute: below 90 s nothing can be said.
	CacheBehind: Objective{
		ID: "cache_behind", Title: "Age of a cache by its resource version",
		Metric: UpstreamStoreResourceVersion.Metric, Threshold: 90, Unit: "s", Inclusive: true, For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "longer than between two bookmarks; the rules tell 90 s, 2, 3, 5 and 10 minutes apart"},
	},
	InformerQueue: Objective{
		ID: "informer_queue_depth", Title: "Items between watch and cache",
		Metric: UpstreamQueuedItems.Metric, Threshold: 1000, Unit: "short", Window: 10 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "the same as for work queues"},
	},
	// The threshold is a bucket, as for every histogram.
	ReadsTimedOut: Objective{
		ID: "reads_timed_out", Title: "Reads that timed out in 15 minutes",
		Metric: RuntimeConsistencyWait.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "the restart of an API server causes a few"},
	},
	ReconcilesTimedOut: Objective{
		ID: "reconciles_timed_out", Title: "Reconciles that timed out in 15 minutes",
		Metric: RuntimeReconcileTimeouts.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "the restart of an API server causes a few"},
	},
	// MinCount is a number of skipped syncs. A single one is normal: the controller syncs again once its cache has caught up.
	SyncsSkipped: Objective{
		ID: "syncs_skipped", Title: "Skipped syncs, as a share of syncs",
		Metric: SkippedReplicaSets.Metric, Threshold: .5, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a cache that is on time is older than a write for milliseconds"},
	},
	// Only the presence of buckets counts. The threshold is a bucket, as for every histogram.
	HistogramBuckets: Objective{
		ID: "histogram_buckets", Title: "Histograms with buckets",
		Metric: UpstreamQueueLatency.Metric, Threshold: 1, Below: true, Fixed: true, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	QueueDepth: Objective{
		ID: "queue_depth", Title: "Queue depth",
		Metric: UpstreamQueueDepth.Metric, Threshold: 1000, Unit: "short", Window: 10 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`queue_depth` < 1000", Differs: "for 10 minutes while items are taken, because a short peak is normal"},
	},
	// component-base's bucket bounds are powers of ten and end at 10 s, which a quantile never exceeds. That leaves 1 s, which is
	// also a bound of controller-runtime's buckets.
	QueueWait: Objective{
		ID: "queue_wait_p99", Title: "Queue latency p99",
		Metric: UpstreamQueueLatency.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "component-base", Text: "1 s is the last histogram bucket below the top"},
	},
	QueueBlocked: Objective{
		ID: "queue_blocked", Title: "Blocked queues",
		Metric: UpstreamQueueDepth.Metric, Threshold: 0, Fixed: true, Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	WorkerBusy: Objective{
		ID: "worker_busy", Title: "Longest running processor",
		Metric: UpstreamQueueLongestRunning.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a worker that is busy for minutes is usually stuck", Differs: "half of it, if 99% of the items that the process has done took at most 10 s"},
	},
	// The API server checks every five minutes.
	CacheInconsistent: mustNotHappen("watch_cache_inconsistent", "Failed consistency checks of the API server", ServerConsistencyChecks.Metric),
	// MinCount is a number of fallbacks.
	WatchCacheLate: Objective{
		ID: "watch_cache_late", Title: "Consistent lists that etcd had to serve, as a share",
		Metric: ServerConsistentReads.Metric, Threshold: .05, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 5, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "kube-apiserver", Text: "falls back to etcd after 3 s"},
	},
	WatchEventsSlow: Objective{
		ID: "watch_events_slow", Title: "Dispatch of watch events p99",
		Metric: ServerDispatch.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a fifth of the objective of event lag"},
	},
	// A client that cannot keep up reconnects and loses its watch again within minutes. A single termination may be that of a suspended client.
	WatchersTerminated: Objective{
		ID: "watchers_terminated", Title: "Watches terminated by the API server in 15 minutes",
		Metric: ServerTerminatedWatchers.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a client that reads too slowly loses its watch again within minutes"},
	},
	// With client-go's default backoff an item reaches the threshold within a second. One that is still retried minutes later keeps
	// failing.
	ItemRetries: Objective{
		ID: "item_retries", Title: "Retries of one item",
		Metric: ControllerItemRetriesMax.Metric, Threshold: 6, Unit: "short", For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "MaxRetries 6", Differs: "after 10 minutes: default backoff reaches six retries within a second"},
	},
	WorkersMissing: Objective{
		ID: "workers_missing", Title: "Running workers",
		Metric: ControllerRunningWorkers.Metric, Threshold: 1, Below: true, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "this worker stops consuming", Differs: "items are queued and no worker runs; a standby replica has none"},
	},
	ItemsDropped: mustNotHappen("items_dropped", "Items dropped after the last retry", ControllerDropped.Metric),
	// MinCount is a number of failures. A single object that always fails must not reach it: with a backoff of at most 30 s,
	// it fails ten times in the window; with client-go's default, 16 times in its first five minutes and rarely after that.
	ReconcileErrors: Objective{
		ID: "reconcile_errors", Title: "Reconcile error rate",
		Metric: ControllerReconcile.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "prometheus-operator", Text: "PrometheusOperatorReconcileErrors: above 10% for 10 minutes"},
	},
	// A controller that settles after a change needs at most one more reconcile for each of its writes: a change and four writes are a share
	// of 80%. The alert fires within five minutes of the fault.
	HotLoop: Objective{
		ID: "hot_loop", Title: "Self-caused reconciles, as a share",
		Metric: ControllerSelfCaused.Metric, Threshold: .8, Unit: "percentunit", Window: 2 * time.Minute, MinCount: 120, For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "a controller that settles writes a few times after each change"},
	},
	ReconcilePanics: mustNotHappen("reconcile_panics", "Reconcile panics", ControllerReconcile.Metric),
	// Off by default: how long a reconcile may take is known only to its controller. Has an effect for controllers with a threshold of
	// their own.
	ReconcileDuration: Objective{
		ID: "reconcile_duration", Title: "Reconcile duration p99",
		Metric: ControllerReconcileDuration.Metric, Threshold: .25, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "reconcile p99 187 ms", Differs: "the next bucket of controller-runtime's histogram; only for controllers with a threshold in the configuration"},
	},
	CleanupOverdue: Objective{
		ID: "cleanup_overdue", Title: "Cleanup deadline exceeded",
		Metric: ControllerFinalizerOverdue.Metric, Threshold: 0, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`after_timeout` gauge", Differs: "the program sets the deadline of each cleanup"},
	},
	// MinCount is a number of attempts above the threshold. A single attempt is enough above the first bucket that is at least three times the threshold.
	CleanupDuration: Objective{
		ID: "cleanup_duration", Title: "Duration of finalizer cleanups",
		Metric: ControllerFinalizerDuration.Metric, Threshold: 10, Unit: "s", Quantile: .99, Window: 15 * time.Minute, MinCount: 2, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "finalizer cleanup above 10 s", Differs: "two cleanups in 15 minutes, or one that takes over 60 s"},
	},
	LeaderMissing: Objective{
		ID: "leader_missing", Title: "Leaders per lock",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, Window: day, For: 2 * time.Minute,
		Severity: Page,
		Source:   Source{From: "client-go", Text: "a lock lasts 15 s without renewal; the alert waits eight times as long"},
	},
	LeaderChanges: Objective{
		ID: "leader_changes", Title: "Leader transitions in 15 minutes",
		Metric: ControllerLeaderTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "etcd mixin", Text: "etcdHighNumberOfLeaderChanges: four in 15 minutes"},
	},
	SlowRenewals: Objective{
		ID: "leader_slow_renewals", Title: "Slow lock renewals in 15 minutes",
		Metric: ControllerLeaderSlowRenewals.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: "client-go", Text: "gives up the lock after 10 s without a renewal"},
	},
	LeaseUnheld: Objective{
		ID: "lease_expired", Title: "Expired Leases",
		Metric: LeaseExpired.Metric, Threshold: 0, Fixed: true, Window: day, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "longer than a restart or a drain takes"},
	},
	LeaseChanges: Objective{
		ID: "lease_changes", Title: "Lease transitions in 15 minutes",
		Metric: LeaseTransitions.Metric, Threshold: 4, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "etcd mixin", Text: "etcdHighNumberOfLeaderChanges: four in 15 minutes"},
	},
	ObjectHeld: Objective{
		ID: "object_held", Title: "Age of the oldest terminating object",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "in deletion for more than 5 min: expired"},
	},
	// Longer than for a terminating object: such an object usually blocks the Namespace, and its alert inhibits this one.
	NamespaceStuck: Objective{
		ID: "namespace_stuck", Title: "Age of the oldest terminating Namespace",
		Metric: ObjectTerminatingOldest.Metric, Threshold: 300, Unit: "s", For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "in deletion for more than 5 min: expired", Differs: "a minute later, because the alert for an object in it mutes this one"},
	},
	GenerationLag: Objective{
		ID: "generation_lag", Title: "Observed generation lag",
		Metric: ObjectGenerationLagOldest.Metric, Threshold: 300, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "the same as for terminating objects"},
	},
	ClientErrors: Objective{
		ID: "client_errors", Title: "API request error rate",
		Metric: ClientRequests.Metric, Threshold: .01, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 100, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "kubernetes-mixin", Text: "KubeClientErrors: above 1% for 15 minutes"},
	},
	WriteConflicts: Objective{
		ID: "write_conflicts", Title: "Conflicts, as a share of writes",
		Metric: ClientConflicts.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "status conflicts (409): retry at most 3 times", Differs: "a share of the writes, because a request does not show that it is a retry"},
	},
	ClientThrottle: Objective{
		ID: "client_throttle_wait_p99", Title: "Client-side throttling p99",
		Metric: ClientThrottleWait.Metric, Threshold: 1, Unit: "s", Quantile: .99, Window: 5 * time.Minute, MinCount: 100, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "client-go", Text: "logs waits longer than 1 s"},
	},
	ClientConflicts: Objective{
		ID: "audit_client_conflicts", Title: "Conflicts of a client, as a share of writes",
		Metric: AuditConflicts.Metric, Threshold: .1, Unit: "percentunit", Window: 5 * time.Minute, MinCount: 20, For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "the same as in programs with the library"},
	},
	ClientWatchDisconnects: Objective{
		ID: "audit_client_disconnects", Title: "Watch disconnects of a client per minute",
		Metric: AuditWatchEnds.Metric, Threshold: 10, Unit: "cpm", Window: 5 * time.Minute, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Articles, Text: "`watch_disconnects` < 10/min", Differs: "per client and resource, as the audit log shows them"},
	},
	ClientHotLoop: Objective{
		ID: "audit_client_hot_loop", Title: "Writes of a client to one object in a minute",
		Metric: AuditHotLoopWrites.Metric, Threshold: 60, Unit: "short", For: 3 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "no controller needs one object more than once a second for minutes"},
	},
	// A healthy client lists once after its start. One list after each restart of an API server is normal, too.
	ClientRelists: Objective{
		ID: "audit_client_relists", Title: "Relists of a client in 15 minutes",
		Metric: AuditRelists.Metric, Threshold: 5, Unit: "short", Inclusive: true, Window: 15 * time.Minute, For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "each restart of an API server may cause one"},
	},
	ClientWatchLost: Objective{
		ID: "audit_client_watch_lost", Title: "Time without a watch that a client had",
		Metric: AuditUnwatched.Metric, Threshold: 120, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "longer than client-go backs off, and than most programs take to stop"},
	},
	AuditLogStale: Objective{
		ID: "audit_log_stale", Title: "Age of the newest event of the audit log",
		Metric: AuditNewestEvent.Metric, Threshold: 300, Unit: "s", For: 2 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: Ours, Text: "leaders renew their Leases every few seconds"},
	},
	// A program that stops has ended within two minutes.
	InformersEnded: Objective{
		ID: "informers_ended", Title: "Ended informers",
		Metric: InformerEnded.Metric, Threshold: 0, Fixed: true, For: 2 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	SeriesLimit: Objective{
		ID: "series_limit", Title: "Items beyond a label or series limit",
		Metric: InformerLabelOverflow.Metric, Threshold: 0, Fixed: true, Window: time.Hour, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	// Prometheus reports the timeout itself only with the feature extra-scrape-metrics.
	ScrapeDuration: Objective{
		ID: "scrape_duration", Title: "Duration of scrapes",
		Metric: foreign("scrape_duration_seconds", familySeries), Threshold: 5, Unit: "s", For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "Prometheus", Text: "half of the default scrape timeout of 10 s"},
	},
	ExporterKindDown: Objective{
		ID: "exporter_kind_down", Title: "Resources available to the exporter",
		Metric: ExporterKindUp.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	ExporterConfigReload: Objective{
		ID: "exporter_config_reload", Title: "Successful configuration reload",
		Metric: ExporterConfigReloaded.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "Prometheus mixin", Text: "PrometheusBadConfig: the last reload failed"},
	},
	ExporterLeaderMissing: Objective{
		ID: "exporter_leader_missing", Title: "Leader of the exporter replicas",
		Metric: ControllerLeader.Metric, Threshold: 1, Below: true, Fixed: true, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	// The garbage collector runs more and more often to stay below the limit, but cannot free memory that is in use.
	ExporterMemory: Objective{
		ID: "exporter_memory", Title: "Memory in use, relative to GOMEMLIMIT",
		Metric: foreign("go_memstats_heap_alloc_bytes", familyExporter), Threshold: .8, Unit: "percentunit", For: 15 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "Go", Text: "collects garbage continuously near GOMEMLIMIT"},
	},
	ExporterShardMissing: Objective{
		ID: "exporter_shard_missing", Title: "Missing exporter shards",
		Metric: ExporterShards.Metric, Threshold: 0, Fixed: true, For: 10 * time.Minute,
		Severity: Ticket,
		Source:   never,
	},
	// Two checks in a row, one a minute. The alert fires within five minutes of the fault.
	WatchCacheFrozen: Objective{
		ID: "watch_cache_frozen", Title: "Age of a version that the watch cache lacks",
		Metric: ExporterWatchCacheStale.Metric, Threshold: 120, Unit: "s", For: time.Minute,
		Severity: Ticket,
		Source:   Source{From: "kube-apiserver", Text: "a consistent list waits for the cache for 3 s"},
	},
	ExporterAbsent: Objective{
		ID: "exporter_absent", Title: "Exporters present",
		Metric: ExporterShards.Metric, Threshold: 1, Below: true, Fixed: true, Window: 7 * day, For: 5 * time.Minute,
		Severity: Ticket,
		Source:   Source{From: "kubernetes-mixin", Text: "KubeAPIDown: the job has disappeared"},
	},
}

// objectives has a field for each objective, by family of the metric in reading order and within a family by ID.
type objectives struct {
	NotSynced,
	UnsyncedReads,
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
	HandlerGrowth,
	HandlerPanics,
	ResyncPeriods,
	VersionsBehind,
	VersionRegressions,
	CacheMutations,
	ForeignObjects,
	Duplicates,
	Orphans,
	TransformConflicts,
	TransformDrops,
	TransformShared,
	ItemRetries,
	ItemsDropped,
	WorkersMissing,
	HotLoop,
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
	ClientConflicts,
	ClientWatchDisconnects,
	ClientHotLoop,
	ClientRelists,
	ClientWatchLost,
	AuditLogStale,
	CacheBehind,
	HistogramBuckets,
	InformerQueue,
	QueueBlocked,
	QueueDepth,
	QueueWait,
	WorkerBusy,
	ReadsTimedOut,
	ReconcilesTimedOut,
	SyncsSkipped,
	CacheInconsistent,
	WatchCacheLate,
	WatchEventsSlow,
	WatchersTerminated,
	InformersEnded,
	ScrapeDuration,
	SeriesLimit,
	ExporterAbsent,
	ExporterConfigReload,
	ExporterKindDown,
	ExporterMemory,
	ExporterShardMissing,
	WatchCacheFrozen Objective
}

// All returns every objective in the order of the fields. The slice is the caller's.
func (o objectives) All() []Objective {
	fields := reflect.ValueOf(o)
	all := make([]Objective, fields.NumField())
	for i := range all {
		all[i] = fields.Field(i).Interface().(Objective)
	}
	return all
}

// foreign returns a gauge of Prometheus or of client_golang, which All does not list.
func foreign(name string, family Family) Metric {
	return Metric{Name: name, Type: TypeGauge, Family: family}
}
