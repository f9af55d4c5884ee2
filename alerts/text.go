package alerts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Phrases of summaries and descriptions, in Prometheus' template language. The cluster is named where there is one.
const (
	inCluster    = `{{ with $labels.cluster }} in cluster {{ . }}{{ end }}`
	someInformer = `The {{ $labels.informer_type }} informer of {{ $labels.name }}` + inCluster
)

// number writes f the way people write PromQL: 0.12 and 30, never 1.2e-01.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// duration writes d the way Prometheus does: 90s as 1m30s, 24h as 1d.
func duration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / u.d; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d %= u.d
		}
	}
	return b.String()
}

// quantity writes a value of an objective for people: 120ms, 1%, 10/min.
func quantity(value float64, unit string) string {
	switch unit {
	case "s":
		if d := time.Duration(value * float64(time.Second)).Round(time.Millisecond); d >= time.Millisecond {
			return duration(d)
		}
		return number(value) + "s"
	case "percentunit":
		return number(value*100) + "%"
	case "cpm":
		return number(value) + "/min"
	}
	return number(value)
}

// bound returns a matcher for the bucket with the given upper bound. Prometheus 3 and OpenMetrics write 5 as 5.0, older
// servers and the text format write 5.
func bound(f float64) string {
	s := number(f)
	if strings.Contains(s, ".") {
		return fmt.Sprintf(`le=%q`, s)
	}
	return fmt.Sprintf(`le=~"%s|%s\\.0"`, s, s)
}

// fill puts an objective's numbers into an expression or a text:
//
//	$threshold  the number that is compared
//	$objective  the same for people, with its unit
//	$quantile   such as 0.99
//	$window     such as 5m
//	$count      the least number of events
//	$bound      the matcher of the bucket at the threshold
//	$for        how long the condition must hold
func fill(o catalog.Objective, text string) string {
	return strings.NewReplacer(
		"$threshold", number(o.Threshold),
		"$objective", quantity(o.Threshold, o.Unit),
		"$quantile", number(o.Quantile),
		"$window", duration(o.Window),
		"$count", number(o.MinCount),
		"$bound", bound(o.Threshold),
		"$for", duration(o.For),
	).Replace(text)
}
