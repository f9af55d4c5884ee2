// Package promtool evaluates rules and queries on the series of a test with Prometheus' own engine: promtool test rules.
package promtool

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Test has series, and queries with their results.
type Test struct {
	Name     string   `json:"name,omitempty"`
	Interval string   `json:"interval,omitempty"`
	Series   []Series `json:"input_series,omitempty"`
	Queries  []Query  `json:"promql_expr_test,omitempty"`
}

// Series has values in promtool's notation, one for each interval.
type Series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// Query is evaluated at the given time after the first value.
type Query struct {
	Expr    string   `json:"expr"`
	At      string   `json:"eval_time"`
	Samples []Sample `json:"exp_samples,omitempty"`
}

// Sample is one series of a result, with its labels as in a selector.
type Sample struct {
	Labels string  `json:"labels"`
	Value  float64 `json:"value"`
}

// Suite has the tests of some rules.
type Suite[T any] struct {
	Interval string // of evaluations
	Tests    []T    // a Test or the equivalent JSON object
	Groups   any    // rules, which are evaluated in their order
}

// Run evaluates tests with the rules of groups, as Suite describes them. It returns the output of promtool, and whether all results are as
// expected. It builds promtool if it is missing.
func Run[T any](t testing.TB, interval string, tests []T, groups any) (output string, ok bool) {
	t.Helper()
	return RunAll(t, []Suite[T]{{interval, tests, groups}})
}

// RunAll is Run for many suites in one process: its start takes as long as most suites.
func RunAll[T any](t testing.TB, suites []Suite[T]) (output string, ok bool) {
	t.Helper()
	if len(suites) == 0 {
		return "", true
	}
	program, err := stack.Binary(t.Context(), "promtool", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "rules"}
	for _, s := range suites {
		args = append(args, s.write(t))
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err == nil
}

// write writes the suite's files and returns the path of the one for promtool.
func (s Suite[T]) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content any) string {
		raw, err := yaml.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rules := write("rules.yaml", map[string]any{"groups": s.Groups})
	raw, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Name string } }
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	order := []string{} // otherwise random
	for _, g := range file.Groups {
		order = append(order, g.Name)
	}
	return write("test.yaml", map[string]any{"rule_files": []string{rules}, "group_eval_order": order, "evaluation_interval": s.Interval, "tests": s.Tests})
}
