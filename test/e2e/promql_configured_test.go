package e2e_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// configuredLabels are other names for all labels that can be renamed, except namespace: objects have a label of that name, too.
var configuredLabels = map[string]string{"cluster": "k8s", "job": "service", "instance": "process", "pod": "k8s_pod"}

const configuredSelector = `env="prod", zone=~"a|b"`

// checkConfigured returns the problems of a query that was generated for configuredLabels and configuredSelector.
func checkConfigured(expr string) (problems []string) {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return []string{err.Error()}
	}
	usual := func(label string) {
		if configuredLabels[label] != "" {
			problems = append(problems, "uses the label "+label)
		}
	}
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			selected := 0
			for _, m := range n.LabelMatchers {
				usual(m.Name)
				if m.Name == "env" && m.Type == labels.MatchEqual && m.Value == "prod" || m.Name == "zone" && m.Type == labels.MatchRegexp && m.Value == "a|b" {
					selected++
				}
			}
			want := 2
			if strings.Contains(n.Name, ":") || strings.HasPrefix(n.Name, "ALERTS") { // recorded by rules from selected series
				want = 0
			}
			if selected != want {
				problems = append(problems, n.String()+" is not selected, or twice")
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				usual(label)
			}
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				for _, label := range slices.Concat(n.VectorMatching.MatchingLabels, n.VectorMatching.Include) {
					usual(label)
				}
			}
		}
		return nil
	})
	return problems
}

func TestCheckConfiguredFindsFaults(t *testing.T) {
	for _, bad := range []string{
		`up`, `up{env="prod"}`, `sum by (cluster) (up{env="prod", zone=~"a|b"})`, `up{env="prod", zone=~"a|b", job="x"}`, `up{`,
		`up{env="prod", zone=~"a|b"} and on (instance) up{env="prod", zone=~"a|b"}`, `ALERTS{env="prod", zone=~"a|b"}`, `{@}`,
	} {
		if len(checkConfigured(bad)) == 0 {
			t.Errorf("no problem is found in %s", bad)
		}
	}
	if problems := checkConfigured(`sum by (k8s) (up{env="prod", zone=~"a|b", service="x"}) + informer:x:rate5m`); len(problems) > 0 {
		t.Error(problems)
	}
}

// Labels under other names, and a selector, reach every query of rules and runbooks, and every label in a template.
func TestLabelsAndSelectorReachTheRules(t *testing.T) {
	c := alerts.Config{
		Labels: configuredLabels, Selector: configuredSelector, HandlerThresholds: map[string]float64{"slow": .5},
		Controllers: map[string]alerts.Controller{"widgets": {Labels: map[string]string{"team": "widgets"}}},
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	checked := 0
	check := func(where, expr string) {
		checked++
		for _, problem := range checkConfigured(expr) {
			t.Errorf("%s: %s\n%s", where, problem, expr)
		}
	}
	for _, g := range alerts.Rules(c) {
		for _, r := range g.Rules {
			check(r.Record+r.Alert, r.Expr)
			for name, text := range r.Annotations {
				for _, l := range labelInTemplate.FindAllStringSubmatch(text, -1) {
					if configuredLabels[l[1]] != "" {
						t.Errorf("%s: %s uses the label %s", r.Alert, name, l[1])
					}
				}
				if strings.Contains(text, "@") {
					t.Errorf("%s: %s has a placeholder left: %s", r.Alert, name, text)
				}
			}
		}
	}
	for _, a := range alerts.All() {
		for _, expr := range runbookQueries(a, c) {
			check("runbook of "+a.Name, expr)
		}
	}
	if checked < 150 {
		t.Errorf("only %d queries were checked", checked)
	}
}

// Labels under other names, and a selector, also reach the dashboards. Variables keep their names, so that links remain valid.
func TestLabelsAndSelectorReachTheDashboards(t *testing.T) {
	renamed := regexp.MustCompile(`\{\{(cluster|job|instance|pod)\}\}`)
	usual := boards(t, dashboards.Config{})
	for i, d := range boards(t, dashboards.Config{Labels: configuredLabels, Selector: configuredSelector}) {
		check := func(where, expr string) {
			for _, problem := range checkConfigured(d.all().Replace(expr)) {
				t.Errorf("%s, %s: %s\n%s", d.UID, where, problem, expr)
			}
		}
		for j, q := range d.Queries {
			check(q.Panel, q.Expr)
			if q.Panel != usual[i].Queries[j].Panel {
				t.Errorf("%s: %q has become %q", d.UID, usual[i].Queries[j].Panel, q.Panel)
			}
		}
		for _, a := range d.Annotations.List {
			if a.Expr != "" {
				check(a.Name, a.Expr)
			}
		}
		for _, v := range variablesOf(t, d) {
			check("variable of "+v.label, v.selector)
			if configuredLabels[v.label] != "" {
				t.Errorf("%s: a variable offers values of the label %s", d.UID, v.label)
			}
		}
		if found := renamed.Find(d.JSON); found != nil {
			t.Errorf("%s still has the legend %s", d.UID, found)
		}
		for _, p := range d.drawn() {
			for _, tr := range p.Transformations {
				for label := range configuredLabels {
					if tr.Options.RenameByName[label] != "" {
						t.Errorf("%s, %q looks for the column %s", d.UID, p.Title, label)
					}
				}
			}
		}
		for j, v := range d.Templating.List {
			if v.Name != usual[i].Templating.List[j].Name {
				t.Errorf("%s: the variable %s has become %s", d.UID, usual[i].Templating.List[j].Name, v.Name)
			}
		}
	}
	if _, err := dashboards.All(dashboards.Config{Selector: "env"}); err == nil {
		t.Error("an invalid selector is accepted")
	}
}

// Every selector that the configuration accepts is valid for Prometheus' parser, followed by another matcher.
func TestSelectorsThatAreAcceptedCanBeParsed(t *testing.T) {
	for _, selector := range []string{
		configuredSelector, `a!="", b!~"x.*"`, `a="\"}\\"`, `a="{,}#"`, `a=~"\\d+\\.x"`, ` a = "b" ,c="\n\t"`, `le="1"`,
	} {
		c := alerts.Config{Selector: selector}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", selector, err)
		}
		for _, g := range alerts.Rules(c) {
			for _, r := range g.Rules {
				if _, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr); err != nil {
					t.Fatalf("%s: %v\n%s", selector, err, r.Expr)
				}
			}
		}
	}
}

// The rules for programs that do not use the library read only client-go's own metrics. ControllerCacheBehind compares them with the
// versions that the exporter receives, and has no series without it.
func TestUpstreamRulesWorkAlone(t *testing.T) {
	for _, g := range alerts.Rules(alerts.Config{Groups: []string{"upstream"}}) {
		for _, r := range g.Rules {
			for _, v := range selectorsOf(t, r.Expr) {
				if !regexp.MustCompile(`^(workqueue_|leader_election_|(instance:)?informer_|(group_resource:)?k8s_informer_resource_version)`).MatchString(v.Name) {
					t.Errorf("%s reads %s", r.Alert, v.Name)
				}
			}
		}
	}
}

// Rules for individual controllers and handlers select by labels that their series have.
func TestRulesOfTheirOwnFitTheCatalog(t *testing.T) {
	recorded := recordedSeries(t)
	c := alerts.Config{
		HandlerThresholds: map[string]float64{"slow": .5},
		Controllers:       map[string]alerts.Controller{"widgets": {Labels: map[string]string{"team": "widgets"}}},
	}
	own := 0
	for _, g := range alerts.Rules(c) {
		for _, r := range g.Rules {
			if _, err := checkQuery(r.Expr, recorded); err != nil {
				t.Errorf("%s%s: %v\n%s", r.Record, r.Alert, err, r.Expr)
			}
			if strings.Contains(r.Expr, `="widgets"`) || strings.Contains(r.Expr, `="slow"`) {
				own++
			}
		}
	}
	if own < 9 {
		t.Errorf("only %d rules are about the controller or the handler", own)
	}
}

// Inhibitions compare only labels that both sides carry: Alertmanager treats a label that both lack as equal, and would
// inhibit alerts of other informers.
func TestInhibitionsCompareLabelsOfTheirAlerts(t *testing.T) {
	recorded := recordedSeries(t)
	carried := map[string][]string{}
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Alert != "" {
				carried[r.Alert], _ = checkQuery(r.Expr, recorded) // TestRulesFitTheCatalog reports the error
			}
		}
	}
	raw, err := alerts.AlertmanagerFile(alerts.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		InhibitRules []struct {
			Source []string `json:"source_matchers"`
			Target []string `json:"target_matchers"`
			Equal  []string `json:"equal"`
		} `json:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^alertname=~?"(.+)"$`)
	checked := 0
	for _, rule := range file.InhibitRules {
		for _, matchers := range [][]string{rule.Source, rule.Target} {
			pattern := regexp.MustCompile("^(?:" + name.FindStringSubmatch(matchers[0])[1] + ")$")
			for alert, has := range carried {
				for _, label := range rule.Equal {
					if !pattern.MatchString(alert) {
						continue
					}
					checked++
					if !slices.Contains(has, label) {
						t.Errorf("%v -> %v compares %s, but %s has %v", rule.Source, rule.Target, label, alert, has)
					}
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d labels were checked", checked)
	}
}
