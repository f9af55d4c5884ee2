package faults

// Sections are the sections of docs/faults.md, in order.
var Sections = []Section{
	{
		Title: "Watch",
		Rows: []Row{
			{
				Test:  "TestServerTimeout",
				Fault: "The server ends a watch after the 5 to 10 minutes that the client requested",
				Shows: "`watch_timeouts_total`, `watches_total` and a `coverage_gap_seconds` of milliseconds, one each. No disconnect and no list: this is normal",
			},
			{
				Test:  "TestBookmarksOnly",
				Fault: "Only bookmarks arrive",
				Shows: "`watch_events_total{type=bookmark}`, `last_event_timestamp_seconds` and `resource_version{stage=received}` advance, and so does the version of the store; nothing else does",
			},
			{
				Test:  "TestResetInTheMiddleOfAnEvent",
				Fault: "The connection is reset in the middle of an event",
				Shows: "`watch_disconnects_total{reason=server_close}` +1 and `coverage_gap_seconds` +1, mostly of milliseconds; `watch_events_total{type=added}` +1, once the whole event has arrived",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDisconnects"}, Note: "if it happens every few seconds"},
				},
			},
			{
				Test:  "TestCutConnection",
				Fault: "The connection is cut for a while",
				Shows: "`watch_connected` 0, and `sync_lag_seconds` grows by a second each second; `watch_disconnects_total{reason=refused}` and `sync_errors_total{error_type=refused}` count the attempts, and `consecutive_failures` those since the last success. Then `coverage_gap_seconds` +1, and no `relists_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if it stops every watch of more than half of the programs"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if the API server no longer has the events since then"},
				},
			},
			{
				Test:  "TestHalfOpenConnection",
				Fault: "The connection is half-open: nothing arrives, and there is no error",
				Shows: "no metric changes: `watch_connected` 1 and `sync_lag_seconds` 0, until HTTP/2 pings detect it after 45 s, see below. HTTP/1.1 has no pings. After many minutes the version may be too old when the connection is back: see 410 Gone",
			},
			{
				Test:  "TestHalfOpenConnectionWithFreshnessChecks",
				Fault: "The same, with freshness checks",
				Shows: "`freshness_checks_total{result=error}`, and after two failed checks and three intervals without a response `sync_lag_seconds` is the time since the last proof that the cache was up to date, with `watch_connected` 1. If the checks have another connection: `freshness_checks_total{result=lagging}`, and the lag is the age of the oldest change that does not arrive",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}, Note: "unless pings detect it first"},
				},
			},
			{
				Test:  "TestDeadConnectionIsFoundByPings",
				Fault: "HTTP/2 pings detect a dead connection",
				Shows: "`watch_disconnects_total{reason=error}` +1, `sync_errors_total{error_type=server}` +1, `relists_total{reason=watch_failed}` +1: client-go cannot distinguish this from a stream that it cannot decode, and relists. `coverage_gap_seconds` +1. The gap, and `sync_lag_seconds` until the relist, count from the last proof that the watch was alive",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestVeryShortWatches",
				Fault: "Watches end within a second and without an event",
				Shows: "each counts in `watch_disconnects_total{reason=very_short}` and makes client-go relist: `relists_total{reason=watch_failed}`. Between watches, `watch_connected` 0 and `sync_lag_seconds` grows; one gap lasts until a watch stays open (`coverage_gap_seconds` +1). There is no `sync_errors_total`",
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
				Shows: "`watch_disconnects_total{reason=expired}` +1, `sync_errors_total{error_type=expired}` +1, `relists_total{reason=expired}` +1, `coverage_gap_seconds` +1. kube-apiserver responds with 200 and sends the event",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
					{Names: []string{"InformerListWatchErrors"}, Note: "if it continues"},
				},
			},
			{
				Test:  "TestThrottledWatch",
				Fault: "429 for a watch",
				Shows: "with `Retry-After`, client-go retries up to ten times and only `coverage_gap_seconds` shows it. Otherwise each counts in `watch_disconnects_total{reason=throttled}` and `sync_errors_total{error_type=throttled}`. Meanwhile `watch_connected` 0, and `sync_lag_seconds` grows. The watch is resumed and there is no `relists_total`",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if it stops every watch of more than half of the programs"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if the API server no longer has the events since then"},
				},
			},
		},
	},
	{
		Title: "List",
		Rows: []Row{
			{
				Test:  "TestThrottledList",
				Fault: "429 for a list",
				Shows: "with `Retry-After`, only `list_duration_seconds` shows it. Otherwise each counts in `sync_errors_total{error_type=throttled}` and `sync_duration_seconds{result=error}`; at the start `synced` 0 and `watch_connected` 0. Afterwards `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if it stops every watch of more than half of the programs"},
					{Names: []string{"InformerExporterKindDown"}, Note: "if the exporter is affected, instead of InformerNotSynced"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestServerErrorOnList",
				Fault: "500 for a list",
				Shows: "two failures per attempt, because client-go falls back to LIST after a failed streaming list: `sync_errors_total{error_type=server}` +2, `sync_duration_seconds{result=error}` +2; at the start `synced` 0 and `watch_connected` 0. Afterwards `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if it stops every watch of more than half of the programs"},
					{Names: []string{"InformerExporterKindDown"}, Note: "if the exporter is affected, instead of InformerNotSynced"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestForbidden",
				Fault: "403 until permission is granted",
				Shows: "`synced` 0, `watch_connected` 0 and, for each attempt, `sync_errors_total{error_type=forbidden}` and `sync_duration_seconds{result=error}`; then `relists_total{reason=initial}` +1, and `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "if the exporter is affected, instead of the others"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestUnauthorized",
				Fault: "401 until the token is replaced",
				Shows: "the same with `sync_errors_total{error_type=unauthorized}`: `synced` 0, `watch_connected` 0; then `last_sync_duration_seconds`",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "if the exporter is affected, instead of InformerNotSynced"},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if the tokens of more than half of the programs are rejected, and none has a watch"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestSlowList",
				Fault: "A list takes 31 seconds",
				Shows: "`synced` 0, `watch_connected` 0 and no `sync_errors_total`; then `last_sync_duration_seconds`, `list_duration_seconds` and `sync_duration_seconds{result=success}` have its duration. Until then the exporter does not know whether it is allowed to watch the resource: after five minutes, InformerExporterKindDown fires instead of InformerNotSynced",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncSlow"}},
					{Names: []string{"InformerNotSynced"}, Note: "after two minutes"},
				},
			},
			{
				Test:  "TestStreamingListRejected",
				Fault: "The server rejects streaming lists",
				Shows: "`sync_errors_total{error_type=other}` +1, then LIST: `relists_total{reason=fallback}` +1 and `list_pages_total` +1",
			},
			{
				Test:  "TestStreamingListNeverCompletes",
				Fault: "The server ignores the option of streaming lists",
				Shows: "`synced` 0 and `watch_connected` 0, without any error: the list is never complete. `last_event_timestamp_seconds` advances. Once a list is complete, `last_sync_duration_seconds` has its duration",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced"}},
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if it stops every watch of more than half of the programs"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestRelistOfUnchangedObjects",
				Fault: "A list of unchanged objects",
				Shows: "`unchanged_updates_total{cause=relist}` counts one update per object and handler. If the informer has a resync period, only handlers with a resync that is due are called. No `event_lag_seconds`. The lost watch that led to the list counts as usual: `coverage_gap_seconds` +1",
			},
			{
				Test:  "TestDeleteMissedDuringAGap",
				Fault: "A delete is missed during a gap",
				Shows: "no `watch_events_total{type=deleted}`. After the list (`relists_total{reason=expired}` +1) `objects` is correct, and the handler is called with a DeletedFinalStateUnknown, which is no event: no `event_lag_seconds`. `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
				},
			},
			{
				Test:  "TestDeleteLostOnTheWay",
				Fault: "An event is lost on a watch that stays up: a delete, or the first event after a list",
				Shows: "only an audit detects it: `watch_connected` 1, `sync_lag_seconds` 0, `audits_total{result=different}` and, after the second, `audit_differences{difference=extra}` +1 for the delete, `audit_differences{difference=missing}` +1 for an object that was created between list and watch, until the next relist",
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
				Shows: "as for a cut connection: `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`. The watch is resumed without a list: `coverage_gap_seconds` +1, no `relists_total`. This applies to resources with recent writes. The new server does not know the versions of idle resources: their watches end as after a compaction",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"KubernetesAPIUnreachable"}},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if the new server no longer has the events"},
				},
			},
			{
				Test:  "TestSecuredMetricsInAnOutage",
				Fault: "The API server is down, and a program with secured metrics asks it about each scrape, as kubebuilder's filter does after a minute",
				Shows: "the filter rejects scrapes: up is 0, and the program has no other metric. With the filter of the integration, scrapes show the outage: `watch_connected` 0, `sync_lag_seconds` grows, `sync_errors_total{error_type=refused}`; afterwards `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"KubernetesAPIUnreachable"}, Note: "if another program shows that it is cut off"},
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}, Note: "for that program"},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if the new server no longer has the events"},
				},
			},
			{
				Test:  "TestCompaction",
				Fault: "etcd is compacted while the watch is down",
				Shows: "the new watch opens and ends with 410 inside the stream: `watch_disconnects_total{reason=expired}` +1, `relists_total{reason=expired}` +1 and a single `coverage_gap_seconds` +1: the watch counts as up only once it has shown that it is",
				Alerts: []Alerts{
					{Names: []string{"InformerCoverageGap"}},
				},
			},
			{
				Test:  "TestEtcdRestored",
				Fault: "etcd is restored to an older state",
				Shows: "the API server accepts watches from versions that it has not reached: after `coverage_gap_seconds` +1 for the restart, `watch_connected` 1, `sync_lag_seconds` 0 and even `freshness_checks_total{result=fresh}`, but the cache is wrong. Only audits detect it: they fail (`audits_total{result=error}`) until new writes have passed the old version, and then find the differences. The next relist also shows it: `sync_errors_total{error_type=timeout}` +1 at the first attempt, then `resource_version_regressions_total` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerAuditsFail"}, Note: "with audits"},
					{Names: []string{"InformerVersionRegression"}, Note: "after the next relist"},
				},
			},
			{
				Test:  "TestCRDDeleted",
				Fault: "A CustomResourceDefinition is deleted",
				Shows: "`watch_events_total{type=deleted}` for each object, `watch_disconnects_total{reason=server_close}` +1, then `watch_connected` 0 with `synced` 1, `sync_lag_seconds` grows, and `sync_errors_total{error_type=not_found}` for each attempt. `relists_total{reason=watch_failed}` +1 and `coverage_gap_seconds` +1 when the definition is created again, and `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerWatchDown", "InformerSyncLagHigh", "InformerListWatchErrors"}},
					{Names: []string{"InformerExporterKindDown"}, Note: "if the exporter is affected"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestVersionsThatAreNoNumbers",
				Fault: "An aggregated API with resource versions that are not numbers",
				Shows: "events and handler calls are counted (`watch_events_total{type=added}`, `handler_duration_seconds`), and so are the objects in `unversioned_objects_total`. Handled events cannot be matched with received ones: `handler_pending_events` 0, `resource_version{stage=received}` 0. Unknown lag is not reported",
			},
			{
				Test:  "TestThousandInformers",
				Fault: "1,000 informers are started and stopped",
				Shows: "`synced` for each; afterwards no series and no goroutines are left",
			},
		},
	},
	{
		Title:        "Handlers, Transforms and the cache",
		ProgramsOnly: true,
		Rows: []Row{
			{
				Test:  "TestBlockedHandler",
				Fault: "A handler blocks",
				Shows: "until the handler returns, `handler_pending_events` +2 for two events, and `sync_lag_seconds` grows. Other handlers continue: `handler_duration_seconds{handler=other}`. Afterwards `event_lag_seconds` includes the wait",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}},
					{Names: []string{"InformerEventLagBurn"}, Afterwards: true, Note: "if a hundred events have waited"},
				},
			},
			{
				Test:  "TestPanickingHandler",
				Fault: "A handler panics",
				Shows: "`handler_panics_total` +1. By default, the process crashes before the counter can be scraped: look for restarts. With `ReallyCrash` off, client-go continues with the next event",
				Alerts: []Alerts{
					{Names: []string{"InformerHandlerPanics"}},
				},
			},
			{
				Test:  "TestHandlerRemovedWhileBusy",
				Fault: "A handler is removed while it is busy",
				Shows: "`handlers` decreases, and the series of the handler are deleted. `events_lost_total{reason=stop}` +1 for an event that was still pending; the event in progress still counts in `event_lag_seconds`",
			},
			{
				Test:  "TestLateHandler",
				Fault: "A handler is added late",
				Shows: "it receives every object, and `event_lag_seconds` counts from when it was added",
			},
			{
				Test:  "TestTransformThatFails",
				Fault: "A Transform returns an error for an event",
				Shows: "`transform_drops_total{cause=error}` and `events_lost_total{reason=transform}`; `handler_pending_events` 0, and `objects` counts only what is in the store",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatReturnsNil",
				Fault: "A Transform returns nil",
				Shows: "the same with `transform_drops_total{cause=nil}`, `events_lost_total{reason=transform}`",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops"}},
				},
			},
			{
				Test:  "TestTransformThatFailsInAList",
				Fault: "A Transform returns an error for an object of a LIST",
				Shows: "client-go relists repeatedly: `transform_drops_total{cause=error}`, `list_items` and `relists_total{reason=initial}` grow, `synced` 0, and `sync_lag_seconds` is the age of the last list. Then `last_sync_duration_seconds` includes the failures",
				Alerts: []Alerts{
					{Names: []string{"InformerNotSynced", "InformerTransformDrops"}},
					{Names: []string{"InformerSyncLagHigh"}, Note: "if it continues"},
					{Names: []string{"InformerSyncSlow"}, Afterwards: true},
				},
			},
			{
				Test:  "TestTransformThatStripsTheVersion",
				Fault: "A Transform strips the resource version",
				Shows: "handled events cannot be matched with received ones: no `event_lag_seconds`, and `handler_pending_events` 0",
			},
			{
				Test:  "TestTransformThatChangesTheName",
				Fault: "A Transform gives two objects the same name",
				Shows: "the store keeps only one of them: `objects` +1. An audit finds `audit_differences{difference=missing}` +2, `audit_differences{difference=extra}` +1, `audit_differences{difference=key_collision}` +1, and `key_collisions_total` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerCacheDiffers"}, Note: "with audits"},
				},
			},
			{
				Test:  "TestTransformThatReturnsNilInAList",
				Fault: "A Transform returns nil for an object of a list",
				Shows: "client-go stores none of its objects: `synced` 1 and `objects` 0. `transform_drops_total{cause=nil}` 1, and `events_lost_total{reason=list}` counts the other objects",
				Alerts: []Alerts{
					{Names: []string{"InformerTransformDrops", "InformerEventsLost"}},
				},
			},
			{
				Test:  "TestTransformThatBlocks",
				Fault: "A Transform hangs",
				Shows: "`store_lag_seconds` and `sync_lag_seconds` grow, without handlers too. Then the cache gets the events: `objects` +2. If the watch ended meanwhile, a new one opens only then: `coverage_gap_seconds` +1",
				Alerts: []Alerts{
					{Names: []string{"InformerSyncLagHigh"}},
					{Names: []string{"InformerCoverageGap"}, Afterwards: true, Note: "if the API server no longer has the events"},
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
				Fault: "The filter of an informer for one namespace has no effect",
				Shows: "`foreign_objects_total` +1 for each object of another namespace, in lists and events; the cache and the handlers get them too",
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
