package alerts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// defaultRules are generated once.
var defaultRules = sync.OnceValue(func() []alerts.Rule { return rules(alerts.Config{}) })

// suite is a test file. Its tests are passed to promtool unchanged.
type suite struct {
	Interval string            `json:"evaluation_interval"`
	Tests    []json.RawMessage `json:"tests"`
}

var (
	alertName = regexp.MustCompile(`alertname=~?"([^"]*)"`)
	// runbooks matches the base URL of the runbooks in the tests, which contains the version of a release.
	runbooks = regexp.MustCompile(`https://\S+/deploy/runbooks`)
	anyName  = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
)

// TestRules evaluates the rules of this package on the series in testdata. Each test evaluates the rules that its queries name
// and those that these read, which takes a fifth of the time of all rules. With -short it leaves out rules that are equal to the
// deployed ones: a mutation that does not change them cannot change the result.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	deployed := deployedRules(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".test.yaml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s suite
			if err := yaml.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
			tests := map[string][]json.RawMessage{} // by the rules that they need
			for _, test := range s.Tests {
				needed := strings.Join(neededBy(t, test), " ")
				tests[needed] = append(tests[needed], test)
			}
			all := alerts.Rules(alerts.Config{RunbookBase: string(runbooks.Find(raw))})
			var suites []promtool.Suite[json.RawMessage]
			for needed, tests := range tests {
				if groups := only(strings.Fields(needed), all); !testing.Short() || !deployed(groups) {
					suites = append(suites, promtool.Suite[json.RawMessage]{Interval: s.Interval, Tests: tests, Groups: groups})
				}
			}
			if out, ok := promtool.RunAll(t, suites); !ok {
				t.Error(out)
			}
		})
	}
}

// neededBy returns the names of the rules that a test depends on.
func neededBy(t *testing.T, test json.RawMessage) (names []string) {
	t.Helper()
	var content struct {
		Queries []promtool.Query `json:"promql_expr_test"`
		Alerts  []struct {
			Name string `json:"alertname"`
		} `json:"alert_rule_test"`
	}
	if err := json.Unmarshal(test, &content); err != nil {
		t.Fatal(err)
	}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, a := range content.Alerts {
		add(a.Name)
	}
	for _, q := range content.Queries {
		for _, name := range readBy(q.Expr) {
			add(name)
		}
	}
	for i := 0; i < len(names); i++ { // names grows
		for _, r := range defaultRules() {
			if r.Alert+r.Record == names[i] {
				for _, name := range readBy(r.Expr) {
					add(name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// readBy returns the names of the rules that a query reads.
func readBy(expr string) (names []string) {
	var patterns []*regexp.Regexp
	for _, match := range alertName.FindAllStringSubmatch(expr, -1) {
		patterns = append(patterns, regexp.MustCompile("^(?:"+match[1]+")$"))
	}
	if len(patterns) < strings.Count(expr, "ALERTS{") {
		patterns = append(patterns, regexp.MustCompile("")) // any alert
	}
	series := anyName.FindAllString(expr, -1)
	for _, r := range defaultRules() {
		if r.Record != "" && slices.Contains(series, r.Record) ||
			r.Alert != "" && slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(r.Alert) }) {
			names = append(names, r.Alert+r.Record)
		}
	}
	return names
}

// only returns the groups of rules with the given names.
func only(names []string, all []alerts.Group) (groups []alerts.Group) {
	for _, g := range all {
		g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r alerts.Rule) bool { return !slices.Contains(names, r.Alert+r.Record) })
		if len(g.Rules) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// deployedRules returns a function that reports whether all rules of some groups are in deploy/prometheus/rules.yaml, apart from
// annotations with addresses.
func deployedRules(t *testing.T) func([]alerts.Group) bool {
	t.Helper()
	raw, err := os.ReadFile("../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []alerts.Group }
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	text := func(g alerts.Group, r alerts.Rule) string {
		return fmt.Sprint(g.Interval, r.Record, r.Alert, r.Expr, r.For, r.KeepFiringFor, r.Labels,
			r.Annotations[alerts.SummaryAnnotation], r.Annotations[alerts.DescriptionAnnotation], r.Annotations["runbook_variables"])
	}
	known := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			known[text(g, r)] = true
		}
	}
	return func(groups []alerts.Group) bool {
		for _, g := range groups {
			for _, r := range g.Rules {
				if !known[text(g, r)] {
					return false
				}
			}
		}
		return true
	}
}
