package catalog

// all lists every metric, by family and in the order of the generated documentation.
var all = []Metric{
	// Cache
	InformerSynced.Metric,
	InformerObjects.Metric,
	InformerCacheHits.Metric,
	InformerCacheMisses.Metric,
	InformerCacheLists.Metric,

	// Sync
	InformerSyncDuration.Metric,
	InformerLastSyncDuration.Metric,
	InformerRelists.Metric,
	InformerListDuration.Metric,
	InformerListItems.Metric,
	InformerListPages.Metric,
	InformerSyncErrors.Metric,

	// Watch
	InformerWatches.Metric,
	InformerWatchConnected.Metric,
	InformerWatchDuration.Metric,
	InformerWatchTimeouts.Metric,
	InformerWatchDisconnects.Metric,
	InformerWatchEvents.Metric,
	InformerLastEventTimestamp.Metric,
	InformerCoverageGap.Metric,

	// Lag
	InformerSyncLag.Metric,
	InformerFreshnessChecks.Metric,
	InformerEventLag.Metric,
	InformerPropagation.Metric,

	// Audit
	InformerAudits.Metric,
	InformerAuditDifferences.Metric,
	InformerAuditDuration.Metric,

	// Handlers
	InformerHandlers.Metric,
	InformerHandlerDuration.Metric,
	InformerHandlerPending.Metric,
	InformerHandlerPanics.Metric,
	InformerHandlerResyncPeriod.Metric,
	InformerHandlerLastResync.Metric,
	InformerUnchangedUpdates.Metric,
	InformerEventsLost.Metric,

	// Versions
	InformerResourceVersion.Metric,
	InformerResourceVersionRegressions.Metric,

	// Pollution
	InformerTransformConflicts.Metric,
	InformerTransformDrops.Metric,
	InformerDuplicates.Metric,
	InformerOrphans.Metric,
	InformerKeyCollisions.Metric,
	InformerMutations.Metric,

	// Queues
	ControllerItemRetries.Metric,
	ControllerBackoff.Metric,
	ControllerQueueDelayedItems.Metric,
	ControllerQueueOldestItem.Metric,
	ControllerQueueCoalesced.Metric,
	ControllerDropped.Metric,

	// Controllers
	ControllerReconcile.Metric,
	ControllerReconcileDuration.Metric,
	ControllerActiveWorkers.Metric,
	ControllerMaxWorkers.Metric,
	ControllerStaleReads.Metric,
	ControllerShutdownDuration.Metric,

	// Finalizers
	ControllerFinalizerAttempts.Metric,
	ControllerFinalizerDuration.Metric,
	ControllerFinalizerRollbackDuration.Metric,
	ControllerFinalizerOverdue.Metric,

	// Leader election
	ControllerLeader.Metric,
	ControllerLeaderTransitions.Metric,
	ControllerLeaderRenewDuration.Metric,
	ControllerLeaderSlowRenewals.Metric,
	ControllerLeaderLastRenew.Metric,

	// Leases
	LeaseExpired.Metric,
	LeaseHolderInfo.Metric,
	LeaseRenewedTimestamp.Metric,
	LeaseDuration.Metric,
	LeaseTransitions.Metric,
	LeaseObjects.Metric,

	// Objects
	ObjectTerminating.Metric,
	ObjectTerminatingOldest.Metric,
	ObjectGenerationLag.Metric,
	ObjectGenerationLagOldest.Metric,
	ObjectOverflow.Metric,

	// API client
	ClientRequests.Metric,
	ClientRequestDuration.Metric,
	ClientConflicts.Metric,
	ClientThrottleWait.Metric,

	// Upstream
	UpstreamQueuedItems.Metric,
	UpstreamProcessingLatency.Metric,
	UpstreamStoreResourceVersion.Metric,
	UpstreamQueueDepth.Metric,
	UpstreamQueueAdds.Metric,
	UpstreamQueueLatency.Metric,
	UpstreamQueueWorkDuration.Metric,
	UpstreamQueueUnfinishedWork.Metric,
	UpstreamQueueLongestRunning.Metric,
	UpstreamQueueRetries.Metric,
	UpstreamLeaderStatus.Metric,
	UpstreamLeaderSlowpath.Metric,

	// Series
	InformerLabelOverflow.Metric,

	// Exporter
	ExporterBuildInfo.Metric,
	ExporterKindUp.Metric,
	ExporterKinds.Metric,
	ExporterDiscoveries.Metric,
	ExporterShards.Metric,
	ExporterConfigReloaded.Metric,
	ExporterConfigReloadedTime.Metric,
}
