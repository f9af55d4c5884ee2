package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func renewDuration() panel {
	return timeSeries{
		header: header{id: 30, title: "Duration of renewals, p99", unit: "s",
			about: "How long requests to renew a lock take, 99th percentile, by result. Milliseconds are normal, and success. conflict: another process has written the lock; error: the API server did not answer, or refused. client-go gives the lock up after 10 s without success."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@lock}[$__rate_interval])))`, legend: legendLock + " {{result}}"}},
	}
}

func slowRenewals(t catalog.Targets) panel {
	o := t.Of(catalog.SlowRenewals)
	return timeSeries{
		header: header{id: 31, title: "Slow renewals in 15 minutes", unit: "short",
			about: "Renewals that took longer than the time after which they are tried again, in the quarter of an hour before, of the worst process. Normal is 0. Otherwise the API server or etcd is slow, or the process waits for its own rate limiter or for CPU."},
		queries: []query{{expr: `max by (@cluster, name, lock) (increase(controller_leader_slow_renewals_total{@lock}[@leader_slow_renewals]))`, legend: legendLock}},
		goal:    &o,
	}
}

func sinceRenewal() panel {
	return timeSeries{
		header: header{id: 32, title: "Time since the last renewal", unit: "s",
			about: "Since any of the candidates has renewed the lock. A few seconds and the time since the last scrape are normal. A rise of a second a second is a lock that nobody holds, or processes that are no longer scraped."},
		queries: []query{{expr: `time() - max by (@cluster, name, lock) (controller_leader_last_renew_timestamp_seconds{@lock} > 0)`, legend: legendLock}},
	}
}
