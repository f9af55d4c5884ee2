package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatNumber formats f as people write it in PromQL: 0.12 and 30, never 1.2e-01.
func FormatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// FormatDuration formats d as Prometheus does, down to milliseconds: 90s as 1m30s, 24h as 1d.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / u.d; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d %= u.d
		}
	}
	return b.String()
}

// Amount returns the threshold with its unit: 120ms, 1%, 10/min.
func (o Objective) Amount() string {
	switch o.Unit {
	case "s":
		// Whole milliseconds are durations; anything finer stays a number.
		if d := time.Duration(o.Threshold*1e6+.5) * time.Microsecond; d > 0 && d%time.Millisecond == 0 {
			return FormatDuration(d)
		}
		return FormatNumber(o.Threshold) + "s"
	case "percentunit":
		return percent(o.Threshold)
	case "cpm":
		return FormatNumber(o.Threshold) + "/min"
	}
	return FormatNumber(o.Threshold)
}

// Goal returns the objective as text: "at most 5s", "below 4", "99% within 5s", "always 1", "none".
func (o Objective) Goal() string {
	switch {
	case o.BurnRates != nil:
		return percent(o.Quantile) + " within " + o.Amount()
	case o.Below && o.Fixed:
		return "always " + o.Amount()
	case o.Below:
		return "at least " + o.Amount()
	case o.Threshold == 0:
		return "none"
	case o.Inclusive:
		return "below " + o.Amount()
	}
	return "at most " + o.Amount()
}

// Allowed returns the share of events that may miss the objective, such as 0.01.
func (o Objective) Allowed() float64 { return math.Round((1-o.Quantile)*1e6) / 1e6 }

// Budget returns Allowed as a percentage, such as 1%.
func (o Objective) Budget() string { return percent(o.Allowed()) }

// percent rounds away the error of binary fractions: 100*.07 is not 7.
func percent(share float64) string { return FormatNumber(math.Round(share*1e6)/1e4) + "%" }
