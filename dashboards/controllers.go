package dashboards

// ControllersUID is the stable id of the dashboard of queues and reconciles in Grafana's addresses.
const ControllersUID = "informers-controllers"

// controllers answers, from top to bottom: does the work get done, which queue or controller falls behind, and why. What
// begins with workqueue_ is client-go's own and there for every program that reports it, with the library or without.
func controllers(c Config) page {
	t := c.Targets
	return page{
		uid:       ControllersUID,
		title:     "Controllers / Queues and reconciles",
		about:     "Whether controllers keep up with their queues, how often reconciles fail and are tried again, and what waits for a clean-up.",
		variables: controllerVariables,
		alerts:    controllerAlerts,
		leaders:   true,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					deepestQueue(t), oldestItem(t), longestWorker(t), failingReconciles(t),
					itemsInBackoff(), itemsGivenUp(), cleanupsLate(), conflictsNow(),
				}},
				{height: 9, panels: []panel{everyQueue(t)}},
				{height: 9, panels: []panel{everyController(t)}},
			}},
			{id: 200, title: "Queues: do the workers keep up?", lines: []line{
				{height: 9, panels: []panel{queueDepth(t), queueWait(t), oldestItems(t)}},
				{height: 9, panels: []panel{queueAdds(), queueRetries(), workDuration()}},
				{height: 9, panels: []panel{longestRunning(t), unfinishedWork()}},
			}},
			{id: 300, title: "Retries: what comes back, and how soon?", lines: []line{
				{height: 9, panels: []panel{itemRetries(), backoff(), delayedItems()}},
				{height: 9, panels: []panel{droppedItems(), coalescedAdds()}},
			}},
			{id: 400, title: "Reconciles: do they succeed, and how long do they take?", lines: []line{
				{height: 9, panels: []panel{reconcileResults(), failingShare(t), reconcileDuration()}},
				{height: 9, panels: []panel{workers(), staleReads(), shutdownSteps()}},
			}},
			{id: 500, title: "Finalizers: are clean-ups done in time?", lines: []line{
				{height: 9, panels: []panel{cleanupAttempts(), cleanupsOverdue()}},
				{height: 9, panels: []panel{cleanupDuration(), rollbackDuration()}},
			}},
		},
	}
}

// controllerAlerts are the alerts about controllers, their leaders and their clients: each may explain the others.
const controllerAlerts = "Controller.+"
