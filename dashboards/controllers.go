package dashboards

// controllers covers queues and reconciles. The workqueue_ metrics are client-go's, which programs report with or without the library.
func controllers(c Config) page {
	t := c.Targets
	return page{
		uid:         ControllersUID,
		title:       "Controllers / Queues and reconciles",
		description: "Queue depth and latency, retries, reconcile error rate and duration, and finalizer cleanups of controllers.",
		variables:   controllerVariables,
		alerts:      controllerAlerts,
		leaders:     true,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					maxQueueDepth(t), oldestItem(t), maxRunningProcessor(t), maxReconcileErrors(t),
					delayedNow(), droppedNow(), overdueCleanups(), conflictsNow(),
				}},
				{height: 9, panels: []panel{queueTable(t)}},
				{height: 9, panels: []panel{controllerTable(t)}},
			}},
			{id: 200, title: "Queues", lines: []line{
				{height: 9, panels: []panel{queueDepth(t), queueLatency(t), oldestItems(t)}},
				{height: 9, panels: []panel{queueAdds(), queueRetries(), workDuration()}},
				{height: 9, panels: []panel{longestRunning(t), unfinishedWork()}},
			}},
			{id: 300, title: "Retries", lines: []line{
				{height: 9, panels: []panel{itemRetries(), backoff(), delayedItems()}},
				{height: 9, panels: []panel{droppedItems(), coalescedAdds()}},
			}},
			{id: 400, title: "Reconciles", lines: []line{
				{height: 9, panels: []panel{reconcileResults(), reconcileErrorRate(t), reconcileDuration()}},
				{height: 9, panels: []panel{workers(), staleReads(), shutdownSteps()}},
			}},
			{id: 500, title: "Finalizers", lines: []line{
				{height: 9, panels: []panel{cleanupAttempts(), cleanupsOverdue()}},
				{height: 9, panels: []panel{cleanupDuration(), rollbackDuration()}},
			}},
		},
	}
}
