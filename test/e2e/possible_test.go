package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// possibleRules loads the rules of a file that can have a result on a recording. Most recordings have the metrics of a third of the
// rules.
type possibleRules struct {
	parser.Parser
	metrics map[string]bool
}

func possibleOn(r recording.Recording) possibleRules {
	p := possibleRules{replayParser, map[string]bool{}}
	for _, s := range r.Series {
		p.metrics[s.Labels.Get(model.MetricNameLabel)] = true
	}
	return p
}

// ruleFiles are the parsed contents of rule files.
var ruleFiles sync.Map

// Parse implements rules.GroupLoader.
func (p possibleRules) Parse(query string) (parser.Expr, error) {
	expr, err := p.ParseExpr(query)
	if err != nil {
		return nil, err
	}
	return written{expr, query}, nil
}

// written is an expression with its text, which each evaluation of a rule reads twice, and would write anew.
type written struct {
	parser.Expr
	text string
}

func (w written) String() string { return w.text }

// inOrder leaves the rules of a group in their order.
type inOrder struct{}

// AnalyseRules implements rules.RuleDependencyController.
func (inOrder) AnalyseRules([]rules.Rule) {}

// Load implements rules.GroupLoader.
func (p possibleRules) Load(file string, ignoreUnknownFields bool, names model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, []error{err}
	}
	parsed, known := ruleFiles.Load(string(content))
	if !known {
		groups, errs := rulefmt.Parse(content, ignoreUnknownFields, names, p.Parser, promslog.NewNopLogger())
		if errs != nil {
			return nil, errs
		}
		parsed, _ = ruleFiles.LoadOrStore(string(content), groups)
	}
	all := &rulefmt.RuleGroups{Groups: slices.Clone(parsed.(*rulefmt.RuleGroups).Groups)}
	var records []string // of rules that can have a result
	possible := func(r rulefmt.Rule) bool {
		expr, err := p.ParseExpr(r.Expr)
		return err != nil || p.possible(expr, records)
	}
	for before := -1; before < len(records); {
		before = len(records)
		for _, g := range all.Groups {
			for _, r := range g.Rules {
				if r.Record != "" && !slices.Contains(records, r.Record) && possible(r) {
					records = append(records, r.Record)
				}
			}
		}
	}
	for i, g := range all.Groups {
		all.Groups[i].Rules = nil
		for _, r := range g.Rules {
			if possible(r) {
				r.Annotations = nil // no replay reads the texts, which are templates
				all.Groups[i].Rules = append(all.Groups[i].Rules, r)
			}
		}
	}
	return all, nil
}

// possible reports whether an expression can have a result, with series of a recording and the results of records.
func (p possibleRules) possible(expr parser.Expr, records []string) bool {
	switch e := expr.(type) {
	case *parser.VectorSelector:
		return slices.Contains(records, e.Name) || strings.HasPrefix(e.Name, "ALERTS") || p.has(e.LabelMatchers)
	case *parser.BinaryExpr:
		left, right := p.possible(e.LHS, records), p.possible(e.RHS, records)
		switch e.Op {
		case parser.LOR:
			return left || right
		case parser.LUNLESS:
			return left
		}
		return left && right
	case *parser.Call:
		if slices.Contains([]string{"absent", "absent_over_time", "scalar", "vector"}, e.Func.Name) {
			return true
		}
	}
	for child := range parser.ChildrenIter(expr) {
		if e, ok := child.(parser.Expr); ok && !p.possible(e, records) {
			return false
		}
	}
	return true
}

// has reports whether the recording has a series with the name of a selector.
func (p possibleRules) has(selector []*labels.Matcher) bool {
	for name := range p.metrics {
		if !slices.ContainsFunc(selector, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && !m.Matches(name) }) {
			return true
		}
	}
	return false
}

// TestPossibleRules: only rules that have no result on any series are left out.
func TestPossibleRules(t *testing.T) {
	have := recording.Recording{Interval: time.Minute, Series: []recording.Series{{Labels: labels.FromStrings(model.MetricNameLabel, "have", "a", "1")}}}
	want := map[string]bool{ // whether the rule is loaded
		"have": true, "rate(have[5m]) > 0": true, `have{a="2"}`: true, "missing or have": true, "have unless missing": true, `{__name__=~"ha.*"}`: true,
		"recorded": true, "recorded_twice": true, "vector(1)": true, "absent(missing)": true, "time() > bool 0": true, `ALERTS{alertname="x"}`: true,
		"missing": false, "sum(rate(missing[5m])) > 0": false, "missing or rate(other[1m])": false, "not_recorded": false, "missing unless have": false, "have and missing": false, "have / sum(missing)": false,
		"histogram_quantile(0.9, missing)": false, `label_replace(have, "a", "", "b", "")`: true, "have > 1": true, "max_over_time(have[5m:1m])": true,
		"(have) + on (a) group_left () (-have)": true, "topk(1, missing)": false, `{__name__=~"mi.*"}`: false,
	}
	text := "groups:\n- name: g\n  rules:\n  - {record: recorded_twice, expr: recorded}\n  - {record: recorded, expr: have}\n  - {record: not_recorded, expr: missing}\n"
	for query := range want {
		text += "  - alert: A\n    expr: '" + query + "'\n"
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	groups, errs := possibleOn(have).Load(file, false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := map[string]bool{}
	for _, r := range groups.Groups[0].Rules {
		got[r.Expr] = true
		if r.Record == "not_recorded" {
			t.Error("a recording rule without series is loaded")
		}
	}
	for query, loaded := range want {
		if got[query] != loaded {
			t.Errorf("%s is loaded: %v", query, got[query])
		}
	}
}
