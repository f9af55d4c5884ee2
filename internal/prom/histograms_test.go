package prom_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/prom"
)

func TestHistograms(t *testing.T) {
	for query, want := range map[string]struct{ classic, native string }{
		`histogram_quantile(0.99, sum by (@le, name) (rate(x_seconds@bucket{@, a="b"}[5m])))`: {
			`histogram_quantile(0.99, sum by (le, name) (rate(x_seconds_bucket{@, a="b"}[5m])))`,
			`histogram_quantile(0.99, sum by (name) (rate(x_seconds{@, a="b"}[5m])))`,
		},
		`sum by (@le) (rate(x_seconds@bucket{@}[$__rate_interval]))`: {
			`sum by (le) (rate(x_seconds_bucket{@}[$__rate_interval]))`,
			`sum (rate(x_seconds{@}[$__rate_interval]))`,
		},
		`increase(x@count{@}[5m]) / increase(x@sum{@}[5m])`: {
			`increase(x_count{@}[5m]) / increase(x_sum{@}[5m])`,
			`histogram_count(increase(x{@}[5m])) / histogram_sum(increase(x{@}[5m]))`,
		},
		`increase(x@within(+Inf){@}[5m]) - increase(x@within(0.5){@}[5m])`: {
			`increase(x_bucket{@, le="+Inf"}[5m]) - increase(x_bucket{@, le="0.5"}[5m])`,
			`histogram_count(increase(x{@}[5m])) - (histogram_fraction(-Inf, 0.5, increase(x{@}[5m])) * histogram_count(increase(x{@}[5m])) >= 0 or histogram_count(increase(x{@}[5m])))`,
		},
		`rate(x@within(5){@}[5m])`: {
			`rate(x_bucket{@, le=~"5|5\\.0"}[5m])`,
			`(histogram_fraction(-Inf, 5, rate(x{@}[5m])) * histogram_count(rate(x{@}[5m])) >= 0 or histogram_count(rate(x{@}[5m])))`,
		},
		`x@count{@} - x@within(+Inf){@} offset 5m`: {`x_count{@} - x_bucket{@, le="+Inf"} offset 5m`, `histogram_count(x{@}) - histogram_count(x{@} offset 5m)`},
		`x@within(10){@} offset 1h`: {
			`x_bucket{@, le=~"10|10\\.0"} offset 1h`,
			`(histogram_fraction(-Inf, 10, x{@} offset 1h) * histogram_count(x{@} offset 1h) >= 0 or histogram_count(x{@} offset 1h))`,
		},
		`@form, not @otherForm: x@otherSeries{@} unless x@series{@}`: {
			`classic, not native: x{@} unless x_count{@}`,
			`native, not classic: x_count{@} unless x{@}`,
		},
		`irate(x@count{@}[5m]) > 0`: {`irate(x_count{@}[5m]) > 0`, `histogram_count(irate(x{@}[5m])) > 0`},
		// Programs without the library have their own histograms.
		`rate(controller_reconcile_duration_seconds@count{@}[5m])`: {
			`rate(controller_reconcile_duration_seconds_count{@}[5m]) or on (@cluster, @job, @instance, controller) label_join(sum without (name) (rate(controller_runtime_reconcile_time_seconds_count{@}[5m])), "name", "", "@job")`,
			`histogram_count(rate(controller_reconcile_duration_seconds{@}[5m]) or on (@cluster, @job, @instance, controller) label_join(sum without (name) (rate(controller_runtime_reconcile_time_seconds{@}[5m])), "name", "", "@job"))`,
		},
		// Summaries have one form.
		`rate(x_sum{@}[5m]) / rate(x_count{@}[5m])`: {`rate(x_sum{@}[5m]) / rate(x_count{@}[5m])`, `rate(x_sum{@}[5m]) / rate(x_count{@}[5m])`},
	} {
		for form, want := range map[prom.Histograms]string{"": want.classic, prom.Classic: want.classic, prom.Native: want.native} {
			if got := (prom.Series{Histograms: form}).Expand(query); got != want {
				t.Errorf("%q: %s\ngot  %s\nwant %s", form, query, got, want)
			}
		}
	}
	if errs := (prom.Series{Histograms: "both"}).Validate(nil); len(errs) != 1 || errs[0].Error() != `histograms: "both" is not supported; use classic or native` {
		t.Errorf("errors %v", errs)
	}
}
