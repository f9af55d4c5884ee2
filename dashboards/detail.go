package dashboards

// informerDetail covers single informers. Only the first two rows are open: the others are for a diagnosis.
func informerDetail(c Config) page {
	t := c.Targets
	return page{
		uid:         DetailUID,
		title:       "Informers / Detail",
		description: "Sync, watch, lag, handlers and cache of informers. Select a program and a resource. Graphs show the ten highest series.",
		variables:   informerVariables,
		alerts:      informerAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, widths: []uint32{5, 5, 5, 5, 4}, panels: []panel{notSynced(), watchesDown(), worstSyncLag(t), lateEvents(t), listWatchErrors(t)}},
				{height: 5, panels: []panel{mustBeZero()}},
				{height: 8, panels: []panel{informerTable(t)}},
			}},
			{id: 200, title: "Lag, checks and reads", lines: []line{
				{height: 9, panels: []panel{syncLag(t), lateEventShare(t), eventLag(t)}},
				{height: 9, panels: []panel{propagation(), freshnessChecks(), hitRatio()}},
			}},
			{id: 300, title: "Watches", collapsed: true, lines: []line{
				{height: 7, panels: []panel{watchTimeline()}},
				{height: 9, panels: []panel{disconnectReasons(), coverageGap(t), eventsByType()}},
				{height: 9, panels: []panel{watchTable(t)}},
			}},
			{id: 400, title: "Lists and relists", collapsed: true, lines: []line{
				{height: 9, panels: []panel{lastSync(t), relists(), syncErrors()}},
				{height: 9, panels: []panel{slowSyncs(), listTable()}, widths: []uint32{8, 16}},
			}},
			{id: 500, title: "Handlers", collapsed: true, lines: []line{
				{height: 9, panels: []panel{handlerDuration(t), pendingEvents(), memory(), lostEvents()}},
				{height: 9, panels: []panel{handlerTable()}},
			}},
			{id: 600, title: "Cache and audits", collapsed: true, lines: []line{
				{height: 9, panels: []panel{objects(), audits()}},
				{height: 9, panels: []panel{cacheTable()}},
			}},
			{id: 900, title: "client-go metrics", collapsed: true, lines: []line{
				{height: 9, panels: []panel{upstreamTable()}},
			}},
		},
	}
}
