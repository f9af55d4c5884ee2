package dashboards

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// bucket matches the bucket that ends at an objective's threshold: Prometheus 3 writes 5 as 5.0, others write 5.
func bucket(o catalog.Objective) string {
	n := catalog.FormatNumber(o.Threshold)
	if strings.Contains(n, ".") {
		return `le="` + n + `"`
	}
	return `le=~"` + n + `|` + n + `\\.0"`
}

func syncLag(t catalog.Targets) panel {
	o := t.Of(catalog.SyncLag)
	return timeSeries{
		header: header{id: 20, title: "Sync lag", unit: "s",
			about: "How far each informer is known to trail the API server. Normal is 0, however little happens. A steady rise of a second a second means that the watch is down, or dead without anybody having said so: look at the freshness checks. Otherwise a handler holds up events: look at the pending ones."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_sync_lag_seconds{@informer})`, legend: legendInformer}},
		goal:    &o,
	}
}

func eventLag(t catalog.Targets) panel {
	o := t.Of(catalog.EventLag)
	return timeSeries{
		header: header{id: 21, title: "Event lag, p99", unit: "s",
			about: "From the receipt of an event to the return of the handler, 99th percentile. Milliseconds are normal. If it rises, compare with the duration of the handlers: they take the time, or there are more events than they can take."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer, traced: true}},
		goal:    &o,
	}
}

func lateShare(t catalog.Targets) panel {
	o := t.Of(catalog.EventLag)
	// The line is the budget, which the objective's own threshold is not.
	budget := catalog.Objective{Threshold: o.Allowed(), Unit: "percentunit"}
	return timeSeries{
		header: header{id: 22, title: "Late events", unit: "percentunit",
			about: "Share of events that took longer than " + o.Amount() + ". Above the line, the budget of a month is used up before its end; the alerts compare hours and days of this."},
		queries: []query{{expr: `1 - sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer, ` + bucket(o) + `}[$__rate_interval])) / sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval]))`, legend: legendInformer}},
		goal:    &budget,
	}
}

func eventLagHeat() panel {
	return heat{
		header: header{id: 23, title: "Event lag, distribution", unit: "s",
			about: "How many events a second took how long, over all informers. Normal is one dark band near the bottom; a second band above it is one slow handler, a smear upwards is a backlog."},
		query: `sum by (le) (rate(k8s_informer_event_lag_seconds_bucket{@informer}[$__rate_interval]))`,
	}
}

func propagation() panel {
	return timeSeries{
		header: header{id: 24, title: "From write to receipt, p99", unit: "s",
			about: "Time from the write of an object, which the API server notes in managedFields to the second, to the receipt of its event. Up to 1 s is normal. More is an API server or a network that is late, or clocks that differ; after a gap, the length of the gap."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_propagation_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func freshnessChecks() panel {
	return timeSeries{
		header: header{id: 25, title: "Freshness checks", unit: "short",
			about: "Checks by result: a short second watch shows what the cache should have. Normal is fresh. lagging: the API server sends what the informer does not get; failed: the API server does not answer, or not in time; skipped: the watch is down or the server cannot tell. No line where the checks are off, as in the library by default."},
		queries: []query{{expr: `sum by (@cluster, name, result) (increase(k8s_informer_freshness_checks_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		stacked: true,
		colours: resultColours("fresh", "lagging|failed"),
	}
}
