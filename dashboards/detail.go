package dashboards

// DetailUID is the stable id of the dashboard of single informers in Grafana's addresses.
const DetailUID = "informers-detail"

// informerAlerts are the alerts about informers.
const informerAlerts = "Informer.+"

// informerDetail tells the life of an informer: is it fine, how far is it behind, and what keeps it from being up to date.
func informerDetail(c Config) page {
	t := c.Targets
	return page{
		uid:       DetailUID,
		title:     "Informers / Detail",
		about:     "The life of informers: whether they are synced, connected and up to date, and what keeps them from it. Choose a program and a resource.",
		variables: informerVariables,
		alerts:    informerAlerts,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					notSynced("@informer"), watchesDown("@informer"), worstSyncLag(t, "@informer"), worstDisconnects(t),
					lateEvents(t), failedAttempts(t), slowestHandler(t), cachesDiffer("@informer"),
				}},
				{height: 9, panels: []panel{everyInformer(t)}},
			}},
			{id: 200, title: "Lag: how far behind are caches and handlers?", lines: []line{
				{height: 9, panels: []panel{syncLag(t), eventLag(t)}},
				{height: 9, panels: []panel{lateShare(t), eventLagHeat()}},
				{height: 9, panels: []panel{propagation(), freshnessChecks()}},
			}},
			{id: 300, title: "Watch: is the connection to the API server stable?", lines: []line{
				{height: 9, panels: []panel{watchTimeline()}},
				{height: 9, panels: []panel{withoutWatch(), disconnects(t), disconnectReasons()}},
				{height: 9, panels: []panel{coverageGap(t), watchEnds(), watchDuration()}},
				{height: 9, panels: []panel{eventsByType(), sinceLastEvent()}},
			}},
			{id: 400, title: "Sync: lists and relists", lines: []line{
				{height: 9, panels: []panel{lastSync(t), relists(), syncErrors()}},
				{height: 9, panels: []panel{syncDuration(t), listDuration(), listItems(), listPages()}},
			}},
			{id: 500, title: "Handlers: who holds up the events?", lines: []line{
				{height: 9, panels: []panel{handlerDuration(t), pendingEvents(), handledEvents()}},
				{height: 9, panels: []panel{handlers(), panics(), lostEvents()}},
				{height: 9, panels: []panel{resyncPeriods(), sinceLastResync(), unchangedUpdates()}},
			}},
			{id: 600, title: "Cache: what is held, and how it is read", lines: []line{
				{height: 9, panels: []panel{objects(), hitRatio()}},
				{height: 9, panels: []panel{reads(), lists()}},
			}},
			{id: 650, title: "Consistency: can the cache be trusted?", lines: []line{
				{height: 9, panels: []panel{regressions(), versionDistance()}},
				{height: 9, panels: []panel{transforms(), superfluous()}},
			}},
			{id: 800, title: "Audit: does the cache agree with the API server?", lines: []line{
				{height: 9, panels: []panel{differences(), audits()}},
				{height: 9, panels: []panel{auditDuration(), keyCollisions(), mutations()}},
			}},
			{id: 900, title: "client-go's own metrics", lines: []line{
				{height: 7, panels: []panel{upstreamQueue(), upstreamLatency(), upstreamSpread()}},
			}},
		},
	}
}
