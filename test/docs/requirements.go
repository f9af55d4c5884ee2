package docs

// requirement is a signal, a cause of cache pollution, a load figure or an operational requirement of the articles behind this
// project. Everything else in docs/dev/requirements.md is found in the code: see evidence.
type requirement struct {
	id, text string
	// where links to the implementation of a requirement that no metric or test covers.
	where string
}

// section is a table of docs/dev/requirements.md.
type section struct {
	title string
	// marker is the name of the table in the page.
	marker string
	rows   []requirement
}

var sections = []section{
	{"Signals", "signals", []requirement{
		{id: "S1", text: "cache hits and misses"},
		{id: "S2", text: "duration of initial syncs and relists"},
		{id: "S3", text: "event lag, received to handled"},
		{id: "S4", text: "errors of list and watch by type"},
		{id: "S5", text: "sync lag"},
		{id: "S6", text: "watch disconnects"},
		{id: "S7", text: "queue depth"},
		{id: "S8", text: "retries, backoff, work duration"},
		{id: "S9", text: "reconciles by result"},
		{id: "S10", text: "leader transitions"},
		{id: "S11", text: "cache consistent with etcd"},
		{id: "S12", text: "monotonic resource versions"},
		{id: "S13", text: "no gap between the list and the first watch event"},
		{id: "S14", text: "time without watch coverage"},
		{id: "S15", text: "cache delay: event lag, degraded state"},
		{id: "S16", text: "finalizer cleanups, blocked deletions"},
		{id: "S17", text: "status conflicts, observed generation"},
		{id: "S18", text: "traces end to end", where: "[Tracing](../tracing.md)"},
		{id: "S19", text: "event loss"},
		{id: "S20", text: "deduplication of events"},
		{id: "S21", text: "handler panics, isolation of handlers"},
		{id: "S22", text: "leaked handlers and informers"},
		{id: "S23", text: "graceful shutdown"},
		{id: "S24", text: "Pushgateway", where: "[Exporter](../exporter.md)"},
		{id: "S25", text: "bytes on the wire and decoded, by resource; compression"},
		{id: "S26", text: "lists and watches by resource version semantics: unset, 0, exact, not older than, streaming"},
		{id: "S27", text: "objects from outside the informer's namespace"},
		{id: "S28", text: "a Transform on an informer that several controllers share"},
		{id: "S29", text: "time from received to stored; skew between the informers of a process"},
		{id: "S30", text: "an on-demand check that an informer is synced, connected and fresh"},
		{id: "S31", text: "reads before the initial sync"},
		{id: "S32", text: "objects without, or with unreadable, resource versions"},
		{id: "S33", text: "a restart under writes: nothing lost, no version regression"},
		{id: "S34", text: "age of the open watch"},
		{id: "S35", text: "duration of finalizer cleanups; their timeouts and rollbacks in traces"},
		{id: "S36", text: "no-op writes; time from generation to observedGeneration"},
		{id: "S37", text: "share of updates with an unchanged generation"},
		{id: "S38", text: "running workers, in addition to busy ones"},
		{id: "S39", text: "memory that slow handlers hold"},
		{id: "S40", text: "consecutive list and watch failures per informer"},
		{id: "S41", text: "growth of registered handlers"},
		{id: "S42", text: "a degraded state by the objectives, with a callback"},
		{id: "S43", text: "retries of items that are still retried"},
		{id: "S44", text: "a backlog without a running worker"},
		{id: "S45", text: "conflicts as a share of writes, by resource and subresource"},
		{id: "S46", text: "a status written through the main resource"},
		{id: "S47", text: "custom resources without a status subresource"},
		{id: "S48", text: "distributions of syncs, cleanups, rollbacks, retries and backoff"},
		{id: "S49", text: "the documented action in the runbook of each threshold", where: "[Runbooks](../../deploy/runbooks)"},
		{id: "S50", text: "a threshold for the cache delay, which the articles leave empty"},
		{id: "S51", text: "open watches per program; bytes of caches by part", where: "panels Open watches by program, Memory by process"},
		{id: "S52", text: "hit ratio over time"},
	}},
	{"Cache pollution", "pollution", []requirement{
		{id: "P1", text: "a second SetTransform replaces the first"},
		{id: "P2", text: "a Transform drops objects"},
		{id: "P3", text: "key collisions"},
		{id: "P4", text: "unequal resync periods"},
		{id: "P5", text: "one informer per namespace, duplicates"},
		{id: "P6", text: "resyncs out of step"},
		{id: "P7", text: "mutated objects in the cache"},
		{id: "P8", text: "inconsistent indexes"},
		{id: "P9", text: "wrong UID, stale generation, stale reads"},
		{id: "P10", text: "configured and actual resync classes"},
		{id: "P11", text: "faults that precede the first scrape", where: "[Alerting](../alerting.md)"},
	}},
	{"Load figures", "load", []requirement{
		{id: "B1", text: "mixed reads of 10,000 Pods"},
		{id: "B2", text: "handlers at 2,000 writes per second"},
		{id: "B3", text: "the indexer under 100 goroutines"},
		{id: "B4", text: "one informer or one per namespace"},
		{id: "B5", text: "cost of resyncs"},
		{id: "B6", text: "recovery of a broken watch"},
		{id: "B7", text: "handler duration at 10,000 objects"},
		{id: "B8", text: "comparison of five stores with client-go's indexer"},
		{id: "B9", text: "cost of DeepEqual; time from restart to synced"},
		{id: "B10", text: "memory from start to synced"},
		{id: "B11", text: "status subresource compared with full updates"},
	}},
	{"Operations", "operations", []requirement{
		{id: "O1", text: "`/metrics`, probes, logs, pprof", where: "[Exporter](../exporter.md)"},
		{id: "O2", text: "three replicas, graceful shutdown", where: "[High availability](../high-availability.md), [deploy/kustomize/high-availability](../../deploy/kustomize/high-availability)"},
		{id: "O3", text: "Prometheus, Alertmanager, Grafana, Tempo or Jaeger", where: "[Alerting](../alerting.md), [Dashboards](../dashboards.md), [Tracing](../tracing.md)"},
		{id: "O4", text: "controller-runtime", where: "[Instrumentation](../instrumentation.md), [examples/controller-runtime](../../examples/controller-runtime)"},
		{id: "O5", text: "namespaces, selectors, minimal RBAC", where: "[Exporter](../exporter.md)"},
		{id: "O6", text: "backoff and resync parameters", where: "[Runbooks](../../deploy/runbooks)"},
		{id: "O7", text: "version skew between client and server", where: "[Compatibility](../../README.md), `make compat`"},
		{id: "O8", text: "resync periods, resync classes and parameters of rate limiters, with their effects", where: "[Instrumentation](../instrumentation.md)"},
		{id: "T1", text: "the documented thresholds and their sources", where: "[Thresholds](../../deploy/thresholds.md)"},
	}},
}

// open are the IDs that nothing meets yet.
var open = []string{}
