package alerts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Long windows are sums of short increases, which are recorded once per tile: a rate over days would read every sample of
// every bucket of every process at each evaluation.
const (
	// tile is the interval of the group that records them, and the length of one increase.
	tile = 5 * time.Minute
	// longest is the longest window that rules read from the programs' own series, so that the fastest burn rate does not wait
	// for the next tile.
	longest = time.Hour
	// longSuffix is the suffix of the names of groups with that interval.
	longSuffix = ".long"
)

// Names of the recording rules of the event lag, between their level and their window.
const (
	recordSlow     = ":k8s_informer_event_lag_seconds:slow_ratio_rate"
	recordCount    = ":k8s_informer_event_lag_seconds_count:increase"
	recordSlowTile = ":k8s_informer_event_lag_seconds:slow_increase"
)

const (
	// informerLevel is the level of recording rules for all processes of a program together.
	informerLevel = "informer"
	sumByInformer = "sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace) "
	// processLevel is the level of recording rules for each process. Each rule costs a series per replica, so only the windows of
	// the fastest burn rate have them.
	processLevel = "instance_informer"
	sumByProcess = "sum by (@cluster, @namespace, @pod, @job, @instance, name, informer_type, watch_namespace) "
)

// level returns the level of the recording rules for a window, and their sum.
func level(o catalog.Objective, window time.Duration) (name, sum string) {
	if slices.ContainsFunc(o.BurnRates, func(b catalog.BurnRate) bool { return b.PerInstance && (b.Long == window || b.Short == window) }) {
		return processLevel, sumByProcess
	}
	return informerLevel, sumByInformer
}

// eventLagRecords returns rules for the share of late events over each short window of the burn rates, and for the number of
// events over the windows in which an alert counts them. A window without events has no share, rather than NaN.
func eventLagRecords(o catalog.Objective, c Config) []Rule {
	const (
		count = `%s(increase(k8s_informer_event_lag_seconds@count{@}[%s]))`
		slow  = `
1 - (
  %s(increase(k8s_informer_event_lag_seconds@within($threshold){@}[%s]))
/
  (%s > 0)
)`
	)
	var rules []Rule
	for _, window := range windows(o) {
		if window > longest {
			continue
		}
		w := catalog.FormatDuration(window)
		level, sum := level(o, window)
		events := fmt.Sprintf(count, sum, w)
		if slices.ContainsFunc(o.BurnRates, func(b catalog.BurnRate) bool { return b.Long == window }) {
			rules = append(rules, c.recording(o, level+recordCount+w, events))
			events = level + recordCount + w
		}
		rules = append(rules, c.recording(o, level+recordSlow+w, fmt.Sprintf(slow, sum, w, events)))
	}
	return rules
}

// longEventLagRecords returns the rules of eventLagRecords for the long windows, from increases over a tile. An increase ranges
// over one scrape more than the tile, so that it starts at the last sample of the previous tile and misses no increment in
// between; the factor undoes the extrapolation over that scrape.
func longEventLagRecords(o catalog.Objective, c Config) []Rule {
	scrape := c.Targets.ScrapeInterval()
	ofTile := catalog.FormatDuration(tile)
	factor := fmt.Sprintf("%s / %s", catalog.FormatNumber(tile.Seconds()), catalog.FormatNumber((tile + scrape).Seconds()))
	rules := []Rule{
		c.recording(o, informerLevel+recordCount+ofTile, sumByInformer+`(increase(k8s_informer_event_lag_seconds@count{@}[$span])) * `+factor),
		c.recording(o, informerLevel+recordSlowTile+ofTile, informerLevel+recordCount+ofTile+`
-
`+sumByInformer+`(increase(k8s_informer_event_lag_seconds@within($threshold){@}[$span])) * `+factor),
	}
	for _, window := range windows(o) {
		if window <= longest {
			continue
		}
		w := catalog.FormatDuration(window)
		rules = append(rules,
			c.recording(o, informerLevel+recordCount+w, "sum_over_time("+informerLevel+recordCount+ofTile+"["+w+"])"),
			c.recording(o, informerLevel+recordSlow+w, "sum_over_time("+informerLevel+recordSlowTile+ofTile+"["+w+"])\n/\n("+informerLevel+recordCount+w+" > 0)"))
	}
	for i := range rules {
		rules[i].Expr = strings.ReplaceAll(rules[i].Expr, "$span", catalog.FormatDuration(tile+scrape)) // after fill, which would widen the range
	}
	return rules
}

// windows returns the windows of the burn rates, the shortest first.
func windows(o catalog.Objective) []time.Duration {
	var list []time.Duration
	for _, b := range o.BurnRates {
		list = append(list, b.Short, b.Long)
	}
	slices.Sort(list)
	return slices.Compact(list) // the short window of one pair may be the long one of another
}

// readLong returns an expression that reads a recorded window in a group with another interval: a long one is recorded once per
// tile, and may be late.
func readLong(o catalog.Objective, record string, window time.Duration) string {
	level, _ := level(o, window)
	record = level + record
	w := catalog.FormatDuration(window)
	if window <= longest {
		return record + w
	}
	return "last_over_time(" + record + w + "[" + catalog.FormatDuration(2*tile) + "])"
}

func (c Config) recording(o catalog.Objective, name, expr string) Rule {
	return Rule{Record: name, Expr: strings.TrimSpace(c.fill(o, expr))}
}
