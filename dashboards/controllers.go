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
					maxQueueDepth, oldestItem, maxRunningProcessor, maxReconcileErrors,
					retriesNow, cleanupDeadlinesNow, conflictsNow,
				}, widths: []uint32{3, 3, 4, 4, 3, 4, 3}},
				{height: 9, panels: []panel{queueTable(t)}},
				{height: 9, panels: []panel{controllerTable}},
			}},
			{id: 200, title: "Queues", lines: []line{
				{height: 9, panels: []panel{queueDepth, slowItems(t), oldestItems}},
				{height: 9, panels: []panel{queueAdds, queueRetries, workDuration}},
				{height: 9, panels: []panel{longestRunning, unfinishedWork}},
			}},
			{id: 300, title: "Retries", lines: []line{
				{height: 9, panels: []panel{highestRetries, itemRetries, backoff}},
				{height: 9, panels: []panel{droppedItems, delayedItems, coalescedAdds, droppedLinks}},
			}},
			{id: 400, title: "Reconciles", lines: []line{
				{height: 9, panels: []panel{reconcileResults, reconcileErrorRate, reconcileDuration}},
				{height: 9, panels: []panel{workers, staleReads, shutdownSteps}, widths: []uint32{7, 6, 11}},
			}},
			{id: 500, title: "Finalizers", collapsed: true, lines: []line{
				{height: 9, panels: []panel{cleanupAttempts, cleanupDeadlines}},
				{height: 9, panels: []panel{slowCleanups, cleanupDuration, rollbackDuration}},
			}},
		},
	}
}
