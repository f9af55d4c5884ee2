package prom_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/prom"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// TestOccurred evaluates the expression with Prometheus' own engine, 20 minutes after the first sample (P11).
func TestOccurred(t *testing.T) {
	const start = `process_start_time_seconds{job="j"}`
	for name, test := range map[string]struct {
		counter, process string
		want             float64
	}{
		"a series that appears late":           {`_x15 3x10`, `-900x30`, 3},
		"a series that appears and rises":      {`_x15 3x2 5x10`, `-900x30`, 5},
		"a process that starts with the fault": {`_x15 3x10`, `_x15 880x10`, 3},
		"a process older than the window that is scraped anew, after a gap or with other labels": {`_x15 3x10`, `_x15 0x10`, 0},
		"a scrape that failed when the window began, of an older process":                        {`3x8 stale _x3 3x10`, `0x8 stale _x3 0x10`, 0},
		"no start time":           {`_x15 3x10`, `_x30`, 0},
		"rises in the window":     {`0x15 3x10`, `0x30`, 3},
		"does not change":         {`3x30`, `0x30`, 0},
		"starts again with fault": {`9x14 _ 2x10`, `0x14 _ 850x10`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			query := promtool.Query{Expr: "round(" + (prom.Series{}).Fill(prom.Occurred(`x_total{@}`, "10m")) + ")", At: "20m",
				Samples: []promtool.Sample{{Labels: `{job="j"}`, Value: test.want}}}
			if out, ok := promtool.Run(t, "1m", []promtool.Test{{Interval: "1m", Queries: []promtool.Query{query}, Series: []promtool.Series{
				{Series: `x_total{job="j"}`, Values: test.counter}, {Series: start, Values: test.process},
			}}}, nil); !ok {
				t.Error(out)
			}
		})
	}
}
