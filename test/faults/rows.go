package faults

// Sections are the sections of docs/faults.md, in order.
var Sections = []Section{
	{
		Title: "Watches",
		Rows: []Row{
			{
				Test:  "TestServerTimeout",
				Fault: "The server ends a watch after the 5 to 10 minutes that the client requested",
				Shows: "`watch_timeouts_total`, `watches_total` and a `coverage_gap_seconds` of milliseconds, one each. This is normal",
			},
			{
				Test:  "TestBookmarksOnly",
				Fault: "Only bookmarks arrive",
				Shows: "`watch_events_total{type=bookmark}`, `last_event_timestamp_seconds` and `resource_version{stage=received}` advance, and nothing else",
			},
			{
				Test:  "TestResetInTheMiddleOfAnEvent",
				Fault: "The connection is reset in the middle of an event",
				Shows: "`watch_disconnects_total{reason=server_close}` +1 and a `coverage_gap_seconds` +1, mostly of milliseconds. `watch_events_total{type=added}` +1 once the whole event has arrived",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDisconnects"}, Note: "if it happens every few seconds"},
				},
			},
			{
				Test:  "TestCutConnection",
				Fault: "The connection is cut for a while",
				Shows: "`watch_connected` 0, and `sync_lag_seconds` grows by one second per second. `watch_disconnects_total{reason=refused}` and `sync_errors_total{error_type=refused}` count attempts; `consecutive_failures` counts attempts since the last success. Then `coverage_gap_seconds` +1, and no `relists_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestHalfOpenConnection",
				Fault: "The connection is half-open: nothing arrives, and no error",
				Shows: "`watch_connected` 1 and `sync_lag_seconds` 0 until HTTP/2 pings detect it after 45 s; HTTP/1.1 has no pings. After many minutes, 410 Gone may follow",
			},
			{
				Test:  "TestHalfOpenConnectionWithFreshnessChecks",
				Fault: "The same, with freshness checks",
				Shows: "`freshness_checks_total{result=error}`. After two failed checks and three intervals without a response, `sync_lag_seconds` is the time since the last proof of freshness, with `watch_connected` 1. Checks on another connection report `freshness_checks_total{result=lagging}`, and the lag is the age of the oldest missing change",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}, Note: "unless pings detect it first"},
				},
			},
			{
				Test:  "TestDeadConnectionIsFoundByPings",
				Fault: "HTTP/2 pings detect a dead connection",
				Shows: "`watch_disconnects_total{reason=error}` +1, `sync_errors_total{error_type=server}` +1 and `relists_total{reason=watch_failed}` +1, because client-go handles this like a stream that it cannot decode. `coverage_gap_seconds` +1. The gap and `sync_lag_seconds` count from the last proof that the watch was alive",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestVeryShortWatches",
				Fault: "Watches end within a second and without an event",
				Shows: "Each counts in `watch_disconnects_total{reason=very_short}` and causes a relist, `relists_total{reason=watch_failed}`. Between watches, `watch_connected` 0 and `sync_lag_seconds` grows; the gap ends when a watch stays open, `coverage_gap_seconds` +1. There is no `sync_errors_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestGarbageOnTheStream",
				Fault: "The stream carries something other than events",
				Shows: "`watch_disconnects_total{reason=error}` +1, `sync_errors_total{error_type=decode}` +1, `relists_total{reason=decode}` +1, `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestExpiredVersion",
				Fault: "410 Gone, as the response to a watch or as an event on it",
				Shows: "`watch_disconnects_total{reason=expired}` +1, `sync_errors_total{error_type=expired}` +1, `relists_total{reason=expired}` +1, `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestThrottledWatch",
				Fault: "429 for a watch",
				Shows: "With `Retry-After`, client-go retries up to ten times, and only `coverage_gap_seconds` shows it. Otherwise each counts in `watch_disconnects_total{reason=throttled}` and `sync_errors_total{error_type=throttled}`. Meanwhile `watch_connected` 0, and `sync_lag_seconds` grows. The watch resumes, and there is no `relists_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
		},
	},
	{
		Title: "Lists",
		Rows: []Row{
			{
				Test:  "TestThrottledList",
				Fault: "429 for a list",
				Shows: "With `Retry-After`, only `list_duration_seconds` shows it. Otherwise each counts in `sync_errors_total{error_type=throttled}` and `sync_duration_seconds{result=error}`; at the start `synced` 0 and `watch_connected` 0. Afterwards `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestServerErrorOnList",
				Fault: "500 for a list",
				Shows: "Two failures per attempt, because client-go falls back to LIST after a failed streaming list: `sync_errors_total{error_type=server}` +2 and `sync_duration_seconds{result=error}` +2; at the start `synced` 0 and `watch_connected` 0. Afterwards `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestForbidden",
				Fault: "403 until permission is granted",
				Shows: "`synced` 0, `watch_connected` 0 and, for each attempt, `sync_errors_total{error_type=forbidden}` and `sync_duration_seconds{result=error}`. Then `relists_total{reason=initial}` +1, and `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter, instead of both"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestUnauthorized",
				Fault: "401 until the token is replaced",
				Shows: "As for 403, with `sync_errors_total{error_type=unauthorized}`: `synced` 0, `watch_connected` 0, then `last_sync_duration_seconds`",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter"},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs, while none has a watch"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestSlowList",
				Fault: "A list takes 31 seconds",
				Shows: "`synced` 0, `watch_connected` 0 and no `sync_errors_total`. Then `last_sync_duration_seconds`, `list_duration_seconds` and `sync_duration_seconds{result=success}` have its duration. In the exporter, InformerExporterKindDown replaces InformerNotSynced after five minutes",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncSlow"}},
					{Names: []string{"InformerNotSynced"}, Note: "after two minutes"},
				},
			},
			{
				Test:  "TestStreamingListRejected",
				Fault: "The server rejects streaming lists",
				Shows: "`sync_errors_total{error_type=other}` +1, then a LIST: `relists_total{reason=fallback}` +1 and `list_pages_total` +1",
			},
			{
				Test:  "TestStreamingListNeverCompletes",
				Fault: "The server ignores the option for streaming lists",
				Shows: "`synced` 0 and `watch_connected` 0 without an error, because the list never completes. `last_event_timestamp_seconds` advances. Once a list completes, `last_sync_duration_seconds` has its duration",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestRelistOfUnchangedObjects",
				Fault: "A list returns only unchanged objects",
				Shows: "`unchanged_updates_total{cause=relist}` counts one update per object and handler; with a resync period, only handlers that are due get it. No `event_lag_seconds`. The lost watch counts as usual: `coverage_gap_seconds` +1",
			},
			{
				Test:  "TestDeleteMissedDuringAGap",
				Fault: "A delete is missed during a gap",
				Shows: "No `watch_events_total{type=deleted}`. After the list (`relists_total{reason=expired}` +1) `objects` is correct, and the handler gets a DeletedFinalStateUnknown, with no `event_lag_seconds`. `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
				},
			},
			{
				Test:  "TestDeleteLostOnTheWay",
				Fault: "An event is lost on a watch that stays up: a delete, or the first event after a list",
				Shows: "`watch_connected` 1 and `sync_lag_seconds` 0: only an audit detects it. `audits_total{result=different}` and, after the second audit, `audit_differences{difference=extra}` +1 for a delete or `audit_differences{difference=missing}` +1 for a create, until the next relist",
				Alerts: []Alerts{
					{Names: []string{"InformerCacheDiffers"}},
				},
			},
		},
	},
	{
		Title: "Servers",
		Rows: []Row{
			{
				Test:  "TestAPIServerKilled",
				Fault: "The API server is killed and restarted",
				Shows: "As for a cut connection: `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`. Resources with recent writes resume: `coverage_gap_seconds` +1 and no `relists_total`. Idle resources relist as after a compaction, because the new server does not know their versions",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestSecuredMetricsInAnOutage",
				Fault: "The API server is down, and a program authenticates each scrape with it",
				Shows: "kubebuilder's default filter rejects scrapes within a minute: up is 0, and the program has no other metric. With the integration's filter, scrapes show the outage: `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`; afterwards `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if another program shows that it is cut off"},
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}, Note: "for that program"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestCompaction",
				Fault: "etcd is compacted while the watch is down",
				Shows: "The new watch ends with 410 inside the stream: `watch_disconnects_total{reason=expired}` +1, `relists_total{reason=expired}` +1 and a single `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
				},
			},
			{
				Test:  "TestEtcdRestored",
				Fault: "etcd is restored to an older state",
				Shows: "The API server accepts watches from versions that it has not reached. After `coverage_gap_seconds` +1 for the restart, `watch_connected` 1, `sync_lag_seconds` 0 and even `freshness_checks_total{result=fresh}`, but the cache is wrong. Audits fail (`audits_total{result=error}`) until new writes pass the old version, and then find the differences. The next relist also shows it: `sync_errors_total{error_type=timeout}` +1, then `resource_version_regressions_total` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerAuditsFail"}, Note: "with audits"},
					{Names: []string{"InformerVersionRegression"}, Note: "after the next relist"},
				},
			},
			{
				Test:  "TestCRDDeleted",
				Fault: "A CustomResourceDefinition is deleted",
				Shows: "`watch_events_total{type=deleted}` for each object and `watch_disconnects_total{reason=server_close}` +1. Then `watch_connected` 0 with `synced` 1, `sync_lag_seconds` grows, and `sync_errors_total{error_type=not_found}` for each attempt. When it is created again: `relists_total{reason=watch_failed}` +1, `coverage_gap_seconds` +1, and `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestVersionsThatAreNoNumbers",
				Fault: "An aggregated API has resource versions that are not numbers",
				Shows: "Events and handler calls count (`watch_events_total{type=added}`, `handler_duration_seconds`), and so do objects in `unversioned_objects_total`. Lag is unknown and not reported: `handler_pending_events` 0, `resource_version{stage=received}` 0",
			},
			{
				Test:  "TestThousandInformers",
				Fault: "1,000 informers are started and stopped",
				Shows: "`synced` for each; afterwards no series and no goroutines are left",
			},
		},
	},
	{
		Title:        "Handlers, transforms and the cache",
		ProgramsOnly: true,
		Rows: []Row{
			{
				Test:  "TestBlockedHandler",
				Fault: "A handler blocks",
				Shows: "Until it returns, `handler_pending_events` +2 for two events, and `sync_lag_seconds` grows. Other handlers continue: `handler_duration_seconds{handler=other}`. Afterwards `event_lag_seconds` includes the wait",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}},
					{Names: []string{"InformerEventLagBurn"}, Afterwards: true, Note: "if a hundred events have waited"},
				},
			},
			{
				Test:  "TestPanickingHandler",
				Fault: "A handler panics",
				Shows: "`handler_panics_total` +1. By default, the process crashes before a scrape sees it: look for restarts. With `ReallyCrash` off, client-go continues with the next event",
				Alerts: []Alerts{
					{Names: []string{"InformerHandlerPanics"}},
				},
			},
			{
				Test:  "TestHandlerRemovedWhileBusy",
				Fault: "A handler is removed while it is busy",
				Shows: "`handlers` decreases, and the handler's series are deleted. `events_lost_total{reason=stop}` +1 for a pending event; the event in progress still counts in `event_lag_seconds`",
			},
			{
				Test:  "TestLateHandler",
				Fault: "A handler is added late",
				Shows: "It receives every object, and `event_lag_seconds` counts from when it was added",
			},
			{
				Test:  "TestTransformThatFails",
				Fault: "A transform returns an error for an event",
				Shows: "`transform_drops_total{cause=error}` and `events_lost_total{reason=transform}`; `handler_pending_events` 0, and `objects` counts only what the store has",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatReturnsNil",
				Fault: "A transform returns nil",
				Shows: "`transform_drops_total{cause=nil}` and `events_lost_total{reason=transform}`",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatFailsInAList",
				Fault: "A transform returns an error for an object in a LIST",
				Shows: "client-go relists repeatedly: `transform_drops_total{cause=error}`, `list_items` and `relists_total{reason=initial}` grow, `synced` 0, and `sync_lag_seconds` is the age of the last list. Then `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerTransformDrops"}},
					{Names: []string{"InformerSyncLagHigh"}, Note: "if it continues"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestTransformThatStripsTheVersion",
				Fault: "A transform strips the resource version",
				Shows: "Lag cannot be measured: no `event_lag_seconds`, and `handler_pending_events` 0",
			},
			{
				Test:  "TestTransformThatChangesTheName",
				Fault: "A transform gives two objects the same name",
				Shows: "The store keeps one of them: `objects` +1. An audit finds `audit_differences{difference=missing}` +2, `audit_differences{difference=extra}` +1, `audit_differences{difference=key_collision}` +1, and `key_collisions_total` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCacheDiffers"}, Note: "with audits"},
				},
			},
			{
				Test:  "TestTransformThatReturnsNilInAList",
				Fault: "A transform returns nil for an object in a list",
				Shows: "client-go stores none of the list's objects: `synced` 1 and `objects` 0. `transform_drops_total{cause=nil}` 1, and `events_lost_total{reason=list}` counts the other objects",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops", "InformerEventsLost"}},
				},
			},
			{
				Test:  "TestTransformThatBlocks",
				Fault: "A transform hangs",
				Shows: "`store_lag_seconds` and `sync_lag_seconds` grow, even without handlers. Then the cache gets the events: `objects` +2. If the watch ended meanwhile, a new one opens only then: `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestReadsBeforeSync",
				Fault: "A program reads the cache before it is synced",
				Shows: "`unsynced_reads_total` +1 for each read by key that finds nothing, and for each list",
				Alerts: []Alerts{
					{Names: []string{"InformerReadsBeforeSync"}},
				},
			},
			{
				Test:  "TestLeakedHandlers",
				Fault: "Handlers are added and never removed",
				Shows: "`handlers` +12 for twelve of them",
				Alerts: []Alerts{
					{Names: []string{"InformerHandlersGrow"}},
				},
			},
			{
				Test:  "TestForeignObjects",
				Fault: "An informer for one namespace receives objects from others",
				Shows: "`foreign_objects_total` +1 for each such object, in lists and events; the cache and the handlers get them too",
				Alerts: []Alerts{
					{Names: []string{"InformerForeignObjects"}},
				},
			},
			{
				Test:  "TestMutatedObject",
				Fault: "A consumer modifies a cached object in place",
				Shows: "`mutations_total` +1, if `Options.Checks.Mutations` is on and the object is in the sample",
				Alerts: []Alerts{
					{Names: []string{"InformerCacheMutated"}},
				},
			},
		},
	},
}
