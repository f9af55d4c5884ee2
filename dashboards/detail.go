package dashboards

// informerDetail covers single informers.
func informerDetail(c Config) page {
	t := c.Targets
	return page{
		uid:         DetailUID,
		title:       "Informers / Detail",
		description: "Sync, watch, lag, handlers and cache of informers. Select a program and a resource.",
		variables:   informerVariables,
		alerts:      informerAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					notSynced("@informer"), watchesDown("@informer"), worstSyncLag(t, "@informer"), worstDisconnects(t),
					lateEvents(t), listWatchErrors(t), slowestHandler(t), inconsistentCaches("@informer"),
				}},
				{height: 9, panels: []panel{informerTable(t)}},
			}},
			{id: 200, title: "Lag", lines: []line{
				{height: 9, panels: []panel{syncLag(t), eventLag(t)}},
				{height: 9, panels: []panel{lateEventShare(t), eventLagDistribution()}},
				{height: 9, panels: []panel{propagation(), freshnessChecks()}},
			}},
			{id: 300, title: "Watches", lines: []line{
				{height: 9, panels: []panel{watchTimeline()}},
				{height: 9, panels: []panel{watchesDownByInformer(), disconnects(t), disconnectReasons()}},
				{height: 9, panels: []panel{coverageGap(t), watchEnds(), watchDuration()}},
				{height: 9, panels: []panel{eventsByType(), sinceLastEvent()}},
			}},
			{id: 400, title: "Lists and relists", lines: []line{
				{height: 9, panels: []panel{lastSync(t), relists(), syncErrors()}},
				{height: 9, panels: []panel{syncDuration(t), listDuration(), listItems(), listPages()}},
			}},
			{id: 500, title: "Handlers", lines: []line{
				{height: 9, panels: []panel{handlerDuration(t), pendingEvents(), handledEvents()}},
				{height: 9, panels: []panel{handlers(), panics(), lostEvents()}},
				{height: 9, panels: []panel{resyncPeriods(), sinceLastResync(), unchangedUpdates()}},
			}},
			{id: 600, title: "Cache", lines: []line{
				{height: 9, panels: []panel{objects(), hitRatio()}},
				{height: 9, panels: []panel{reads(), lists()}},
			}},
			{id: 650, title: "Consistency", lines: []line{
				{height: 9, panels: []panel{regressions(), versionDistance()}},
				{height: 9, panels: []panel{transforms(), duplicatesAndOrphans()}},
			}},
			{id: 800, title: "Audits", lines: []line{
				{height: 9, panels: []panel{differences(), audits()}},
				{height: 9, panels: []panel{auditDuration(), keyCollisions(), mutations()}},
			}},
			{id: 900, title: "client-go metrics", lines: []line{
				{height: 7, panels: []panel{upstreamQueue(), upstreamLatency(), upstreamSpread()}},
			}},
		},
	}
}
