package prom

import (
	"regexp"
	"strings"
)

// Histograms is the form in which Prometheus stores histograms.
type Histograms string

const (
	// Classic histograms have one series per bucket, plus _count and _sum. Classic is the default.
	Classic Histograms = "classic"
	// Native histograms are one series. Those with custom buckets, to which Prometheus can convert classic ones, are native, too.
	Native Histograms = "native"
)

func (h Histograms) valid() bool { return h == "" || h == Classic || h == Native }

// observed finds the placeholders of histograms, inside rate, irate or increase, or alone, now or at an offset:
//
//	rate(x@bucket{@}[5m])     a histogram for histogram_quantile; sum it by (@le, a)
//	rate(x@within(5){@}[5m])  number of observations that are at most 5, or +Inf; sum it by (a) or without (le)
//	rate(x@count{@}[5m])      number of observations
//	rate(x@sum{@}[5m])        sum of observations
//	x@count{@} offset 5m      number of observations since the start of the process
//
// Other placeholders:
//
//	@form      classic or native, the form of histograms; @otherForm is the other one
//	x@series   a series that the histogram x has only in this form; x@otherSeries is one of the other form
var observed = regexp.MustCompile(`(?:\b(rate|irate|increase)\()?([a-z0-9_]+)@(bucket|count|sum|within\(([^()]+)\))\{([^{}]*)\}(?:\[([^\]]+)\]\)|( offset [$a-z0-9_]+)?)`)

// expand replaces the placeholders of histograms.
func (h Histograms) expand(query string) string {
	form, other, series, otherSeries, le, onlyLe := "classic", "native", "_count", "", "(le, ", " by (le)"
	if h == Native {
		form, other, series, otherSeries, le, onlyLe = "native", "classic", "", "_count", "(", ""
	}
	query = strings.NewReplacer("@form", form, "@otherForm", other, "@series", series, "@otherSeries", otherSeries,
		"(@le, ", le, " by (@le)", onlyLe).Replace(query)
	return observed.ReplaceAllStringFunc(query, func(text string) string {
		part := observed.FindStringSubmatch(text)
		function, metric, kind, upper, selector, window, offset := part[1], part[2], part[3], part[4], part[5], part[6], part[7]
		of := func(suffix, matchers string) string {
			series := metric + suffix + "{" + selector + matchers + "}"
			if function == "" {
				return series + offset
			}
			return function + "(" + series + "[" + window + "])"
		}
		native := of("", "")
		switch {
		case kind == "bucket" && h == Native:
			return native
		case h == Native && (kind == "count" || upper == "+Inf"):
			return "histogram_count(" + native + ")"
		case kind == "sum" && h == Native:
			return "histogram_sum(" + native + ")"
		case h == Native:
			// The fraction of a histogram without observations is NaN, and so would be any sum with it. The count, 0, replaces
			// it.
			return "(histogram_fraction(-Inf, " + upper + ", " + native + ") * histogram_count(" + native + ") >= 0 or histogram_count(" + native + "))"
		case upper != "":
			return of("_bucket", ", "+bound(upper))
		}
		return of("_"+kind, "")
	})
}

// bound returns a matcher for the bucket with the given upper bound. Prometheus 3 and OpenMetrics write 5 as 5.0, older
// servers and the text format write 5.
func bound(upper string) string {
	if strings.Contains(upper, ".") || upper == "+Inf" {
		return `le="` + upper + `"`
	}
	return `le=~"` + upper + `|` + upper + `\\.0"`
}
