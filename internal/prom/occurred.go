package prom

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Occurred returns an expression for the increase of counters in a window, including what they had counted at their first sample:
// most label values have a series only once they have occurred, a fault at the start of a process precedes its first scrape, and
// increase ignores the first value of a series.
//
// The first value counts if it is known to be of the window: the process started in it, or its target was scraped at its
// beginning with the same labels, without the series. Otherwise the series only begins anew, after a gap in Prometheus or with
// other target labels, and its value may be days old. Counters of processes without process_start_time_seconds, of client_golang's process collector, count
// from their first sample.
//
// The result is not enclosed in parentheses. Counters that describe something older than their process, such as a Lease, must not use it.
func Occurred(series, window string) string {
	process := "process_start_time_seconds{@process}"
	if strings.Contains(series, "{@server") {
		process = "process_start_time_seconds{@server}"
	}
	return series + ` unless ` + series + ` offset ` + window +
		` and on (@cluster, @job, @instance) (` + process + ` > time() - ` + seconds(window) + ` or ` + process + ` and ` + process + ` offset ` + window + `)` +
		` or increase(` + series + `[` + window + `])`
}

// graphed is the age in seconds up to which the counters of a new process appear in a graph: Grafana has no number for the length of its
// $__rate_interval. A longer time would repeat them after each failed scrape.
const graphed = "120"

// seconds returns the length of a window, which may be a placeholder of rules, dashboards or Grafana.
func seconds(window string) string {
	switch window {
	case "$window":
		return "$seconds"
	case "$__range":
		return "$__range_s"
	}
	if strings.HasPrefix(window, "@") {
		return window + "_seconds"
	}
	d, err := model.ParseDuration(window)
	if err != nil {
		return graphed
	}
	return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64)
}
