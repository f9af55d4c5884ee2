package catalog

// all lists every metric, by family and in the order of the generated documentation.
var all = []Metric{
	// Cache
	InformerSynced.Metric,
	InformerObjects.Metric,
	InformerCacheBytes.Metric,
	InformerCacheHits.Metric,
	InformerCacheMisses.Metric,
	InformerUnsyncedReads.Metric,
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
	InformerWatchOpened.Metric,
	InformerFailures.Metric,
	InformerCoverageGap.Metric,

	// Lag
	InformerSyncLag.Metric,
	InformerDegraded.Metric,
	InformerStoreLag.Metric,
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
	InformerResyncPeriods.Metric,
	InformerHandlerLastResync.Metric,
	InformerUnchangedUpdates.Metric,
	InformerSameGenerationUpdates.Metric,
	InformerEventsLost.Metric,
	InformerUnmeasuredEvents.Metric,

	// Versions
	InformerResourceVersion.Metric,
	InformerResourceVersionRegressions.Metric,
	InformerUnversionedObjects.Metric,

	// Pollution
	InformerTransformConflicts.Metric,
	InformerTransforms.Metric,
	InformerIndexErrors.Metric,
	InformerTransformDrops.Metric,
	InformerForeignObjects.Metric,
	InformerDuplicates.Metric,
	InformerOrphans.Metric,
	InformerKeyCollisions.Metric,
	InformerMutations.Metric,

	// Queues
	ControllerItemRetries.Metric,
	ControllerItemRetriesMax.Metric,
	ControllerBackoff.Metric,
	ControllerQueueDelayedItems.Metric,
	ControllerQueueOldestItem.Metric,
	ControllerRunningWorkers.Metric,
	ControllerQueueCoalesced.Metric,
	ControllerDropped.Metric,
	ControllerTraceLinksDropped.Metric,

	// Controllers
	ControllerReconcile.Metric,
	ControllerReconcileDuration.Metric,
	ControllerSelfCaused.Metric,
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
	ObjectGenerationObserved.Metric,
	ObjectOverflow.Metric,

	// API client
	ClientRequests.Metric,
	ClientRequestDuration.Metric,
	ClientConflicts.Metric,
	ClientReads.Metric,
	ClientReadBytes.Metric,
	ClientCompressedBytes.Metric,
	ClientUnchangedWrites.Metric,
	ClientWriteEcho.Metric,
	ClientWritesWithoutEcho.Metric,
	ClientOldestWriteWithoutEcho.Metric,
	ClientThrottleWait.Metric,

	// Clients
	AuditWatchesOpen.Metric,
	AuditWatches.Metric,
	AuditWatchEnds.Metric,
	AuditRelists.Metric,
	AuditCoverageGap.Metric,
	AuditUnwatched.Metric,
	AuditLists.Metric,
	AuditListDuration.Metric,
	AuditFirstEventDuration.Metric,
	AuditRequests.Metric,
	AuditConflicts.Metric,
	AuditHotLoopWrites.Metric,
	AuditEvents.Metric,
	AuditWebhookRequests.Metric,
	AuditNewestEvent.Metric,

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

	// Programs without the library
	runtimeReconcile.Metric,
	runtimeTerminalErrors.Metric,
	runtimePanics.Metric,
	runtimeDuration.Metric,
	runtimeActiveWorkers.Metric,
	runtimeMaxWorkers.Metric,
	RuntimeConsistencyWait.Metric,
	RuntimeReconcileTimeouts.Metric,
	skippedDaemonSets.Metric,
	skippedHPAs.Metric,
	skippedJobs.Metric,
	SkippedReplicaSets.Metric,
	skippedStatefulSets.Metric,
	statePods.Metric,
	stateDeployments.Metric,
	restRequests.Metric,
	restDuration.Metric,
	restThrottling.Metric,

	// API server
	ServerTerminatedWatchers.Metric,
	ServerConsistencyChecks.Metric,
	ServerConsistentReads.Metric,
	ServerDispatch.Metric,
	serverReadWait.Metric,
	serverInitializations.Metric,
	serverWatchList.Metric,
	serverRejected.Metric,
	serverLongRunning.Metric,

	// Tracing
	TraceSpansExported.Metric,
	TraceSpansDropped.Metric,

	// Series
	InformerLabelOverflow.Metric,
	InformerEnded.Metric,

	// Exporter
	ExporterBuildInfo.Metric,
	ExporterKindUp.Metric,
	ExporterKindWithoutStatusSubresource.Metric,
	ExporterKinds.Metric,
	ExporterDiscoveries.Metric,
	ExporterShards.Metric,
	ExporterWatchCacheStale.Metric,
	ExporterConfigReloaded.Metric,
	ExporterConfigReloadedTime.Metric,
}
