package dashboards

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// bucket matches the bucket with an objective's threshold as its bound. Prometheus 3 writes 5 as 5.0, older versions as 5.
func bucket(o catalog.Objective) string {
	n := catalog.FormatNumber(o.Threshold)
	if strings.Contains(n, ".") {
		return `le="` + n + `"`
	}
	return `le=~"` + n + `|` + n + `\\.0"`
}

func syncLag(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 20, title: "Sync lag", unit: "s",
			description: "How far each informer is behind the API server. Normally 0, also when idle. A rise of one second per second means that the watch is down or half-open: see the freshness checks. Otherwise a handler blocks events: see the pending events."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_sync_lag_seconds{@informer})`, legend: legendInformer}},
		goal:    new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func eventLag(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 21, title: "Event lag p99", unit: "s",
			description: "99th percentile of the time from receiving an event to the handler's return. Normally milliseconds. If it rises, compare with the handler duration and the event rate."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer, traced: true}},
		goal:    new(t.Of(catalog.Objectives.EventLag)),
	}
}

func lateEventShare(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.EventLag)
	// The line is the error budget, not the threshold of the objective.
	budget := catalog.Objective{Threshold: o.Allowed(), Unit: "percentunit"}
	return timeSeries{
		header: header{id: 22, title: "Late events", unit: "percentunit",
			description: "Share of events handled more than " + o.Amount() + " after they were received. Above the line, the monthly error budget runs out early; the alerts use windows from 5m to 3d."},
		queries: []query{{expr: `1 - sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer, ` + bucket(o) + `}[$__rate_interval])) / sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval]))`, legend: legendInformer}},
		goal:    &budget,
	}
}

func eventLagDistribution() panel {
	return distribution{
		header: header{id: 23, title: "Event lag distribution", unit: "s",
			description: "Events per second by event lag, over all informers. Normally one dark band near the bottom. A second band above it is a slow handler; an upward smear is a backlog."},
		query: `sum by (le) (rate(k8s_informer_event_lag_seconds_bucket{@informer}[$__rate_interval]))`,
	}
}

func propagation() panel {
	return timeSeries{
		header: header{id: 24, title: "Propagation delay p99", unit: "s",
			description: "Time from an object's write, as recorded in managedFields in whole seconds, to the receipt of its event. Normally up to 1 s. More means a slow API server or network, or clock skew. After a coverage gap, it includes the gap."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_propagation_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func freshnessChecks() panel {
	return timeSeries{
		header: header{id: 25, title: "Freshness checks by result", unit: "short",
			description: "Checks that compare the cache with a short second watch. Normally fresh. lagging: the informer misses events that the API server sends. error: the API server does not respond in time. skipped: the watch is down or the server does not support the check. No line where checks are off, the library's default."},
		queries: []query{{expr: `sum by (@cluster, name, result) (increase(k8s_informer_freshness_checks_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		stacked: true,
		colors:  resultColors("fresh", "lagging|error"),
	}
}
