package dashboards_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

var (
	increaseOf = regexp.MustCompile(`increase\(([a-z0-9_]+)(\{[^{}]*\})\[([^\]]+)\]\)`)
	rateOf     = regexp.MustCompile(`rate\(([a-z0-9_]+)`)
	// often are counters that rise all the time in a healthy program, and numbers of observations by their size.
	often = regexp.MustCompile(`_seconds_(bucket|count|sum)$|^workqueue_|_item_retries_bucket$|_list_items_(count|sum)$|_cache_(hits|misses|lists)_total$|_(same_generation|unchanged)_updates_total$|` +
		`^k8s_client_(requests|reads|read_bytes|compressed_bytes)_total$|^rest_client_requests_total$|_reconcile_total$|_self_caused_reconciles_total$|_queue_coalesced_total$|_watch_events_total$|^process_cpu_|^k8s_audit_(requests|events|webhook_requests)_total$`)
)

// annotations returns the queries of all annotations.
func annotations(t *testing.T) (all []shown) {
	t.Helper()
	for _, d := range dashboardsOf(t) {
		var m struct {
			Annotations struct{ List []struct{ Name, Expr string } }
		}
		if err := json.Unmarshal(d.JSON, &m); err != nil {
			t.Fatal(err)
		}
		for _, a := range m.Annotations.List {
			all = append(all, shown{dashboard: d.UID, panel: a.Name, expr: a.Expr})
		}
	}
	return all
}

// TestFirstSamplesCount goes through all panels and annotations: an increase must be written by prom.Occurred, which also reads the value at
// the beginning of the window, and a rate must be one of a counter that normally rises (P11). The number in a Lease is older than the
// process.
func TestFirstSamplesCount(t *testing.T) {
	checked := 0
	for _, s := range append(queries(t), annotations(t)...) {
		for _, m := range increaseOf.FindAllStringSubmatch(s.expr, -1) {
			if metric, selector, window := m[1], m[2], m[3]; metric != catalog.LeaseTransitions.Name {
				checked++
				if !strings.Contains(s.expr, metric+selector+" offset "+window) {
					t.Errorf("%s: increase ignores a first sample of %s above 0; use prom.Occurred", s, metric)
				}
			}
		}
		for _, m := range rateOf.FindAllStringSubmatch(s.expr, -1) {
			if !often.MatchString(m[1]) {
				t.Errorf("%s: rate ignores a first sample of %s above 0, which may be the only one; count with prom.Occurred", s, m[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d increases", checked)
	}
}

var constantOrRising = regexp.MustCompile(`^([0-9.]+)(?:\+([0-9.]+))?x60$`)

// at40 returns the value of a series of a model after 40 minutes.
func at40(s promtool.Series) (value float64, ok bool) {
	m := constantOrRising.FindStringSubmatch(s.Values)
	if m == nil {
		return 0, false
	}
	first, _ := strconv.ParseFloat(m[1], 64)
	step, _ := strconv.ParseFloat(m[2], 64)
	return first + 40*step, true
}

var (
	counters     = regexp.MustCompile(`^[a-z0-9_]+(_total|_bucket|_count|_sum)\{`)
	jobOfSeries  = regexp.MustCompile(`\bjob="[^"]*"`)
	nameOfTarget = regexp.MustCompile(`\binstance="[^"]*"`)
)

// born returns the series of a model in processes that were started 39 minutes after its beginning, with counters that do not rise after
// their first sample.
func born(m numbers) (list []promtool.Series) {
	started := map[string]bool{}
	for _, s := range m.Series {
		if strings.HasPrefix(s.Series, "process_start_time_seconds") || strings.Contains(s.Series, `cluster="us"`) {
			continue
		}
		if value, ok := at40(s); ok && counters.MatchString(s.Series) && !strings.HasPrefix(s.Series, catalog.LeaseTransitions.Name) {
			s.Values = fmt.Sprintf("_x39 %gx24", value)
		}
		list = append(list, s)
		job, instance := jobOfSeries.FindString(s.Series), nameOfTarget.FindString(s.Series)
		if process := `process_start_time_seconds{cluster="eu", ` + job + `, ` + instance + `}`; job != "" && instance != "" && !started[process] {
			started[process] = true
			list = append(list, promtool.Series{Series: process, Values: "_x39 2330x24"})
		}
	}
	return list
}

// TestBornWithTheFault evaluates the panels that count occurrences in processes that have just started, with counters that are above 0 at
// their first sample and do not rise again: each panel that has a number above 0 in a model still has one (P11).
func TestBornWithTheFault(t *testing.T) {
	all := queries(t)
	shows := map[string]bool{}
	var tests []promtool.Test
	for _, m := range models(t) {
		test := promtool.Test{Name: m.name, Interval: "1m", Series: born(m)}
		for _, s := range all {
			if !strings.Contains(s.expr, "process_start_time_seconds{") || !strings.Contains(s.expr, "increase(") {
				continue
			}
			if !shows[s.String()] {
				shows[s.String()] = false // also without a number
			}
			total := 0.
			for _, sample := range m.Panels[s.String()] {
				total += sample.Value
			}
			if total > 0 {
				shows[s.String()] = true
				test.Queries = append(test.Queries, promtool.Query{At: "40m", Expr: "sum(" + evaluable(s.expr, m.Clusters) + ") > bool 0",
					Samples: []promtool.Sample{{Labels: "{}", Value: 1}}})
			}
		}
		if m.name == "program" {
			for _, a := range annotations(t) {
				if a.panel == "Leader transitions" && a.dashboard == dashboards.LeaderElectionUID {
					for at, count := range map[string]float64{"39m": 1, "40m": 0} {
						test.Queries = append(test.Queries, promtool.Query{At: at, Samples: []promtool.Sample{{Labels: "{}", Value: count}},
							Expr: `count({__name__="nothing"} or ` + evaluable(a.expr, m.Clusters) + `) > bool 0 or vector(0)`})
					}
				}
			}
		}
		tests = append(tests, test)
	}
	for text, ok := range shows {
		if !ok {
			t.Errorf("%q has no number above 0 in any model of testdata/numbers", text)
		}
	}
	if len(shows) < 40 {
		t.Errorf("only %d panels count occurrences", len(shows))
	}
	if out, ok := promtool.Run(t, "1m", tests, nil); !ok {
		t.Error(out)
	}
}

// TestIdleIsNotGood evaluates the numbers with a text for idle on the series of a program that does nothing: they are NaN, not a number
// that meets its objective.
func TestIdleIsNotGood(t *testing.T) {
	idle := map[string]bool{}
	for _, d := range dashboardsOf(t) {
		var m struct {
			Panels []struct {
				Title       string
				Options     struct{ ReduceOptions struct{ Calcs []string } }
				FieldConfig struct {
					Defaults struct {
						Mappings []struct {
							Options struct {
								Match  string
								Result struct{ Color string }
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			for _, mapping := range p.FieldConfig.Defaults.Mappings {
				if mapping.Options.Match == "nan" {
					idle[d.UID+", "+p.Title+" /  / "] = true
					if calcs := p.Options.ReduceOptions.Calcs; !slices.Equal(calcs, []string{"last"}) {
						t.Errorf("%s, %q is reduced by %q, and only last keeps NaN", d.UID, p.Title, calcs)
					}
					if mapping.Options.Result.Color != "transparent" {
						t.Errorf("%s, %q is %s when idle", d.UID, p.Title, mapping.Options.Result.Color)
					}
				}
			}
		}
	}
	for _, m := range models(t) {
		if m.name != "program" {
			continue
		}
		test := promtool.Test{Interval: "1m"}
		for _, s := range m.Series {
			if value, ok := at40(s); ok && counters.MatchString(s.Series) {
				s.Values = fmt.Sprintf("%gx60", value)
			}
			test.Series = append(test.Series, s)
		}
		for _, s := range queries(t) {
			if idle[s.String()] {
				test.Queries = append(test.Queries, promtool.Query{At: "40m", Expr: "(" + evaluable(s.expr, m.Clusters) + ") == bool (" + evaluable(s.expr, m.Clusters) + ")",
					Samples: []promtool.Sample{{Labels: "{}", Value: 0}}}) // NaN differs from itself
			}
		}
		if len(test.Queries) < 8 {
			t.Errorf("only %d numbers have a text for idle", len(test.Queries))
		}
		if out, ok := promtool.Run(t, "1m", []promtool.Test{test}, nil); !ok {
			t.Error(out)
		}
	}
}
