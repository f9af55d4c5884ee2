package alerts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Every alert has a promtool test in which it stays silent, and one in which it fires and resolves. If it takes the rate of a
// counter, a silent test has a missing scrape and a reset of that counter. `make check` runs the tests with promtool.
func TestEveryAlertHasPromtoolTests(t *testing.T) {
	type group struct {
		Name   string `json:"name"`
		Series []struct {
			Series string `json:"series"`
			Values string `json:"values"`
		} `json:"input_series"`
		Tests []struct {
			Expr    string `json:"expr"`
			At      string `json:"eval_time"`
			Samples []any  `json:"exp_samples"`
		} `json:"promql_expr_test"`
	}
	files, err := filepath.Glob("testdata/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var groups []group
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var content struct {
			Tests []group `json:"tests"`
		}
		if err := yaml.Unmarshal(raw, &content); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		groups = append(groups, content.Tests...)
	}
	for _, a := range alerts.All() {
		if a.Objective.ID == catalog.Objectives.ReconcileDuration.ID {
			continue // has no rule by default; see TestReconcileSlow
		}
		var silent, resolves, restarts bool
		for _, g := range groups {
			if !strings.HasPrefix(g.Name, a.Name+" ") {
				continue
			}
			fired, nothing := false, true
			for _, e := range g.Tests {
				if !strings.Contains(e.Expr, `ALERTS{alertname="`+a.Name+`"`) {
					continue
				}
				if len(e.Samples) > 0 {
					fired, nothing = true, false
				} else if fired {
					resolves = true
				}
			}
			silent = silent || nothing
			for _, s := range g.Series {
				restarts = restarts || nothing && strings.HasPrefix(s.Series, counterOf(a)) && restartIn(s.Values)
			}
		}
		if counterOf(a) != "" && !restarts {
			t.Errorf("%s: no test shows it silent across a missing scrape and a reset of %s", a.Name, counterOf(a))
		}
		if !silent || !resolves {
			t.Errorf("%s: tests show it silent: %v, firing and resolving: %v", a.Name, silent, resolves)
		}
	}
}

// TestFailedScrapesAreTested: an alert that compares a gauge directly loses its series when a scrape fails.
func TestFailedScrapesAreTested(t *testing.T) {
	raw, err := os.ReadFile("testdata/scrapes.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts.All() {
		// InformerExporterAbsent begins with a scrape that fails.
		if !comparesGauge(a) || a.Name == "InformerExporterAbsent" {
			continue
		}
		if !strings.Contains(string(raw), `{alertname="`+a.Name+`"}`) {
			t.Errorf("%s: testdata/scrapes.test.yaml does not show that it keeps firing while a scrape fails", a.Name)
		}
	}
}

// labelCall is the beginning of an expression that gives its result a label.
var labelCall = regexp.MustCompile(`^label_(join|replace)\(\n *`)

var comparison = regexp.MustCompile(` (>|>=|==|<) |\nunless\n`)

// comparesGauge reports whether an alert's expression begins with a comparison of selectors that have no range.
func comparesGauge(a alerts.Alert) bool {
	for _, r := range defaultRules() {
		if r.Alert == a.Name {
			compared := comparison.Split(labelCall.ReplaceAllString(r.Expr, ""), 2)[0]
			return !strings.Contains(compared, "[") && !strings.Contains(compared, " offset ") && !strings.HasPrefix(compared, "(") && a.Objective.BurnRates == nil
		}
	}
	return false
}

var counter = regexp.MustCompile(`(?:rate|increase)\((\w+)`)

// counterOf returns the first counter that an alert takes the rate of, without the suffix of a histogram's part, or "".
func counterOf(a alerts.Alert) string {
	for _, r := range defaultRules() {
		if r.Alert != a.Name {
			continue
		}
		if a.Objective.BurnRates != nil {
			return a.Objective.Metric.Name // by way of recording rules
		}
		if m := counter.FindStringSubmatch(r.Expr); m != nil {
			return strings.TrimSuffix(strings.TrimSuffix(m[1], "_bucket"), "_count")
		}
	}
	return ""
}

// values matches values in promtool's notation: 5, 5x10 or 5+2x10. The number after x is the number of values that follow the
// first.
var values = regexp.MustCompile(`^([\d.]+)(?:\+([\d.]+))?(?:x(\d+))?$`)

// restartIn reports whether a series in promtool's notation has a gap between its values, and falls.
func restartIn(series string) bool {
	var gap, falls bool
	last := -1.0
	for _, part := range strings.Fields(series) {
		if strings.HasPrefix(part, "_") {
			gap = gap || last >= 0
			continue
		}
		m := values.FindStringSubmatch(part)
		if m == nil {
			return false // it counts down, which no counter does
		}
		first, _ := strconv.ParseFloat(m[1], 64)
		step, _ := strconv.ParseFloat(m[2], 64) // 0 if there is none
		more, _ := strconv.ParseFloat(m[3], 64)
		falls = falls || first < last
		last = first + step*more
	}
	return gap && falls
}
