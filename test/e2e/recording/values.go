package recording

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/value"
)

// Missing marks a scrape without a sample of the series.
var Missing = math.NaN()

// Stale marks the first scrape without a sample after one with a sample, as Prometheus' staleness marker does.
var Stale = math.Float64frombits(value.StaleNaN)

// format writes values as promtool reads them: `0x8 1+1x20 _x3`, where 0x8 are nine zeros and 1+1x20 counts from 1 to 21.
func format(values []float64) string {
	var b strings.Builder
	for i := 0; i < len(values); {
		if i > 0 {
			b.WriteByte(' ')
		}
		text, n := run(values[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// run writes the longest prefix of values that a single term can express, and returns its length.
func run(values []float64) (string, int) {
	first := values[0]
	switch {
	case value.IsStaleNaN(first):
		return "stale", 1
	case math.IsNaN(first):
		n := 1
		for n < len(values) && math.IsNaN(values[n]) && !value.IsStaleNaN(values[n]) {
			n++
		}
		if n == 1 {
			return "_", 1
		}
		return fmt.Sprint("_x", n), n
	}
	text := strconv.FormatFloat(first, 'f', -1, 64)
	step, n := 0.0, 1
	if len(values) > 1 {
		step = values[1] - first
	}
	if step != 0 && !whole(first, step) { // sums of fractions are not exact
		return text, 1
	}
	for n < len(values) && values[n] == first+float64(n)*step {
		n++
	}
	switch {
	case n == 1, n == 2 && step != 0:
		return text, 1
	case step == 0:
		return fmt.Sprint(text, "x", n-1), n
	default:
		return fmt.Sprintf("%s%+.0fx%d", text, step, n-1), n
	}
}

func whole(values ...float64) bool {
	for _, v := range values {
		if v != math.Trunc(v) || math.Abs(v) > 1<<50 {
			return false
		}
	}
	return true
}

// short rounds to thousandths, more precise than any rule needs.
func short(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e12 {
		return v
	}
	return math.Round(v*1000) / 1000
}
