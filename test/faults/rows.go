package faults

// Sections are the sections of docs/faults.md, in order.
var Sections = []Section{
	{
		Title: "Watches",
		Rows: []Row{
			{
				Test:  "TestServerTimeout",
				Fault: "The server ends a watch after its planned 5 to 10 minutes",
				Shows: "`watch_timeouts_total`, `watches_total` and a `coverage_gap_seconds` of milliseconds, one each",
			},
			{
				Test:  "TestBookmarksOnly",
				Fault: "Only bookmarks arrive",
				Shows: "`watch_events_total{type=bookmark}`, `last_event_timestamp_seconds` and `resource_version{stage=received}` advance, and nothing else",
			},
			{
				Test:  "TestResetInTheMiddleOfAnEvent",
				Fault: "The connection is reset in the middle of an event",
				Shows: "`watch_disconnects_total{reason=server_close}` +1, `coverage_gap_seconds` +1, mostly short. Once the event has arrived, `watch_events_total{type=added}` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDisconnects"}, Note: "every few seconds"},
				},
			},
			{
				Test:  "TestCutConnection",
				Fault: "The connection is cut for a while",
				Shows: "`watch_connected` 0, and `sync_lag_seconds` grows. `watch_disconnects_total{reason=refused}`, `sync_errors_total{error_type=refused}` and `consecutive_failures` count attempts. Then `coverage_gap_seconds` +1 and no `relists_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestHalfOpenConnection",
				Fault: "The connection is half-open: nothing arrives, and no error",
				Shows: "`watch_connected` 1, `sync_lag_seconds` 0 until HTTP/2 pings detect it after 45 s; HTTP/1.1 has none. Later, 410 Gone may follow",
			},
			{
				Test:  "TestHalfOpenConnectionWithFreshnessChecks",
				Fault: "The same, with freshness checks",
				Shows: "`freshness_checks_total{result=error}`. After two failures and three intervals, `sync_lag_seconds` is the time since the last successful check, with `watch_connected` 1. If checks use another connection (`freshness_checks_total{result=lagging}`), it is the age of the oldest missing change",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}, Note: "unless pings detect it first"},
				},
			},
			{
				Test:  "TestDeadConnectionIsFoundByPings",
				Fault: "HTTP/2 pings detect a dead connection",
				Shows: "`watch_disconnects_total{reason=error}` +1, `sync_errors_total{error_type=server}` +1, `relists_total{reason=watch_failed}` +1. `coverage_gap_seconds` +1; it and `sync_lag_seconds` count from the last proof that the watch was alive",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}},
				},
			},
			{
				Test:  "TestVeryShortWatches",
				Fault: "Watches end within a second, without an event",
				Shows: "Each counts in `watch_disconnects_total{reason=very_short}` and `relists_total{reason=watch_failed}`, but there is no `sync_errors_total`. In between, `watch_connected` 0 and `sync_lag_seconds` grows. Once a watch lasts, `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh"}},
				},
			},
			{
				Test:  "TestGarbageOnTheStream",
				Fault: "The stream carries something other than events",
				Shows: "`watch_disconnects_total{reason=error}` +1, `sync_errors_total{error_type=decode}` +1, `relists_total{reason=decode}` +1, `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}},
				},
			},
			{
				Test:  "TestExpiredVersion",
				Fault: "410 Gone, as a response or event",
				Shows: "`watch_disconnects_total{reason=expired}` +1, `sync_errors_total{error_type=expired}` +1, `relists_total{reason=expired}` +1, `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}},
				},
			},
			{
				Test:  "TestThrottledWatch",
				Fault: "429 for a watch",
				Shows: "With `Retry-After`, client-go retries up to ten times; only `coverage_gap_seconds` shows it. Otherwise `watch_disconnects_total{reason=throttled}` and `sync_errors_total{error_type=throttled}` count each, `watch_connected` 0, and `sync_lag_seconds` grows. The watch resumes: no `relists_total`",
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
				Shows: "With `Retry-After`, only `list_duration_seconds` shows it. Otherwise `sync_errors_total{error_type=throttled}` and `sync_duration_seconds{result=error}` count each; at the start `synced` 0, `watch_connected` 0. Then `last_sync_duration_seconds` includes the failures",
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
				Shows: "Per attempt, a streaming list and a LIST fail: `sync_errors_total{error_type=server}` +2, `sync_duration_seconds{result=error}` +2; at the start `synced` 0, `watch_connected` 0. Then `last_sync_duration_seconds` includes the failures",
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
				Shows: "`synced` 0, `watch_connected` 0, and per attempt `sync_errors_total{error_type=forbidden}` and `sync_duration_seconds{result=error}`. Then `relists_total{reason=initial}` +1, and `last_sync_duration_seconds` includes the failures",
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
				Shows: "`synced` 0, `watch_connected` 0 and no `sync_errors_total`. Then `last_sync_duration_seconds`, `list_duration_seconds` and `sync_duration_seconds{result=success}` have its duration. After five minutes, the exporter has InformerExporterKindDown instead of InformerNotSynced",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncSlow"}},
					{Names: []string{"InformerNotSynced"}, Note: "after two minutes"},
				},
			},
			{
				Test:  "TestStreamingListRejected",
				Fault: "The server rejects streaming lists",
				Shows: "`sync_errors_total{error_type=other}` +1, then a LIST: `relists_total{reason=fallback}` +1, `list_pages_total` +1",
			},
			{
				Test:  "TestStreamingListNeverCompletes",
				Fault: "The server ignores the option for streaming lists",
				Shows: "`synced` 0, `watch_connected` 0 without an error. `last_event_timestamp_seconds` advances. Once a list completes, `last_sync_duration_seconds` has its duration",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "in most programs"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestRelistOfUnchangedObjects",
				Fault: "A list returns only unchanged objects",
				Shows: "`unchanged_updates_total{cause=relist}` counts one per object and handler; with a resync period, only for handlers that are due. No `event_lag_seconds`. `coverage_gap_seconds` +1 for the lost watch",
			},
			{
				Test:  "TestDeleteMissedDuringAGap",
				Fault: "A delete is missed during a gap",
				Shows: "No `watch_events_total{type=deleted}`. `relists_total{reason=expired}` +1 corrects `objects`; the handler gets a DeletedFinalStateUnknown, with no `event_lag_seconds`. `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
				},
			},
			{
				Test:  "TestDeleteLostOnTheWay",
				Fault: "A watch that stays up loses a delete, or the first event after a list",
				Shows: "`watch_connected` 1, `sync_lag_seconds` 0: only an audit detects it. `audits_total{result=different}`; after the second, `audit_differences{difference=extra}` +1 for the delete, `audit_differences{difference=missing}` +1 for a create, until the next relist",
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
				Shows: "As for a cut connection: `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`. Then `coverage_gap_seconds` +1 and no `relists_total`, except for idle resources, which relist",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if a relist follows"},
				},
			},
			{
				Test:  "TestSecuredMetricsInAnOutage",
				Fault: "The API server is down, and a program asks it about each scrape",
				Shows: "kubebuilder's filter rejects scrapes within a minute: up is 0, and the program has no other metric. With the integration's filter, `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`; afterwards `coverage_gap_seconds` +1",
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
				Shows: "After `coverage_gap_seconds` +1 for the restart, `watch_connected` 1, `sync_lag_seconds` 0 and even `freshness_checks_total{result=fresh}`, but the cache is wrong. Audits fail (`audits_total{result=error}`) until new writes pass the old version, then find the differences. The next relist shows `sync_errors_total{error_type=timeout}` +1, then `resource_version_regressions_total` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerAuditsFail"}, Note: "with audits"},
					{Names: []string{"InformerVersionRegression"}, Note: "after the next relist"},
				},
			},
			{
				Test:  "TestCRDDeleted",
				Fault: "A CustomResourceDefinition is deleted",
				Shows: "`watch_events_total{type=deleted}` per object, `watch_disconnects_total{reason=server_close}` +1. Then `watch_connected` 0, `synced` 1, `sync_lag_seconds` grows, and `sync_errors_total{error_type=not_found}` per attempt. Once it exists again, `relists_total{reason=watch_failed}` +1, `coverage_gap_seconds` +1, and `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "in the exporter"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestVersionsThatAreNoNumbers",
				Fault: "An aggregated API has versions that are not numbers",
				Shows: "Events (`watch_events_total{type=added}`), handler calls (`handler_duration_seconds`) and objects (`unversioned_objects_total`) count. Lag is not reported: `handler_pending_events` 0, `resource_version{stage=received}` 0",
			},
			{
				Test:  "TestThousandInformers",
				Fault: "1,000 informers are started and stopped",
				Shows: "`synced` for each; afterwards no series or goroutines are left",
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
				Shows: "`handler_pending_events` +2 for two events, and `sync_lag_seconds` grows. Other handlers continue: `handler_duration_seconds{handler=other}`. Then `event_lag_seconds` includes the wait",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}},
					{Names: []string{"InformerEventLagBurn"}, Afterwards: true, Note: "if a hundred events were handled"},
				},
			},
			{
				Test:  "TestPanickingHandler",
				Fault: "A handler panics",
				Shows: "`handler_panics_total` +1. By default, the process crashes before a scrape: look for restarts",
				Alerts: []Alerts{
					{Names: []string{"InformerHandlerPanics"}},
				},
			},
			{
				Test:  "TestHandlerRemovedWhileBusy",
				Fault: "A handler is removed while busy",
				Shows: "`handlers` decreases, and its series are deleted. `events_lost_total{reason=stop}` +1 for a pending event; the event in progress counts in `event_lag_seconds`",
			},
			{
				Test:  "TestLateHandler",
				Fault: "A handler is added late",
				Shows: "It receives every object; `event_lag_seconds` counts from its addition",
			},
			{
				Test:  "TestTransformThatFails",
				Fault: "A transform returns an error for an event",
				Shows: "`transform_drops_total{cause=error}`, `events_lost_total{reason=transform}`; `handler_pending_events` 0, and `objects` counts what the store has",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatReturnsNil",
				Fault: "A transform returns nil",
				Shows: "`transform_drops_total{cause=nil}`, `events_lost_total{reason=transform}`",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatFailsInAList",
				Fault: "A transform returns an error for an object in a LIST",
				Shows: "client-go relists: `transform_drops_total{cause=error}`, `list_items`, `relists_total{reason=initial}` grow, `synced` 0, and `sync_lag_seconds` is the last list's age. Then `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerTransformDrops"}},
					{Names: []string{"InformerSyncLagHigh"}},
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
				Shows: "client-go stores none of the objects: `synced` 1, `objects` 0. `transform_drops_total{cause=nil}` 1; `events_lost_total{reason=list}` counts the others",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops", "InformerEventsLost"}},
				},
			},
			{
				Test:  "TestTransformThatBlocks",
				Fault: "A transform hangs",
				Shows: "`store_lag_seconds` and `sync_lag_seconds` grow, even without handlers. Then `objects` +2. If the watch ended meanwhile, `coverage_gap_seconds` +1",
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
				Shows: "`foreign_objects_total` +1 for each; cache and handlers get them too",
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
