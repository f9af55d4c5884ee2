package alerts_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/promql"
)

// Labels under other names, and a selector, reach every query and every text, and nothing else.
func TestLabelsReachTheRules(t *testing.T) {
	c := alerts.Config{
		Labels:      map[string]string{"cluster": "k8s", "job": "service", "instance": "process"},
		Selector:    `env="prod"`,
		ExtraLabels: map[string]string{"team": "platform"},
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	selected := promql.Matcher{Label: "env", Op: "=", Value: "prod"}
	old := regexp.MustCompile(`\$labels\.(cluster|job|instance)\b`)
	before := rules(alerts.Config{})
	for i, r := range rules(c) {
		q, err := promql.Scan(r.Expr)
		if err != nil {
			t.Fatalf("%s%s: %v", r.Record, r.Alert, err)
		}
		for _, s := range q.Series {
			if strings.Contains(s.Name, ":") == slices.Contains(s.Matchers, selected) {
				t.Errorf("%s%s: %s has the matchers %v", r.Record, r.Alert, s.Name, s.Matchers)
			}
		}
		for name := range c.Labels {
			if slices.Contains(q.Grouping, name) {
				t.Errorf("%s%s groups by %s", r.Record, r.Alert, name)
			}
		}
		for name, text := range r.Annotations {
			if old.MatchString(text) {
				t.Errorf("%s: %s: %s", r.Alert, name, text)
			}
		}
		if r.Alert != "" && (r.Labels["team"] != "platform" || r.Labels["severity"] != before[i].Labels["severity"]) {
			t.Errorf("%s has the labels %v", r.Alert, r.Labels)
		}
		if r.Record != "" && len(r.Labels) > 0 {
			t.Errorf("%s has the labels %v", r.Record, r.Labels)
		}
	}
	if link := rules(c)[0].Annotations["dashboard_url"]; !strings.Contains(link, `{{ with $labels.k8s }}&var-cluster={{ . | urlquery }}`) {
		t.Errorf("the dashboards keep their variables, but the link is %s", link)
	}
	for _, a := range alerts.All() {
		queries := inRunbook.FindAllStringSubmatch(string(alerts.RunbookPage(a, c)), -1)
		if len(queries) < 2 {
			t.Errorf("the runbook of %s has %d queries", a.Name, len(queries))
		}
		for _, found := range queries {
			q, err := promql.Scan(found[1])
			if err != nil || slices.Contains(q.Grouping, "cluster") || !strings.Contains(found[1], `env="prod"`) && !strings.Contains(found[1], "informer:") {
				t.Errorf("the runbook of %s asks %s (%v)", a.Name, found[1], err)
			}
		}
	}
	am := alertmanager(t, c)
	labels := slices.Clone(am.Route.GroupBy)
	for _, rule := range am.InhibitRules {
		labels = append(labels, rule.Equal...)
	}
	for name := range c.Labels {
		if slices.Contains(labels, name) {
			t.Errorf("Alertmanager compares the label %s, which is called %s", name, c.Labels[name])
		}
	}
}

var inRunbook = regexp.MustCompile("(?s)```promql\n(.*?)```")

// A controller with objectives or labels of its own has rules of its own for what they change, and no other rule is about
// it, too.
func TestControllersOfTheirOwn(t *testing.T) {
	threshold, wait := 20000.0, 2*time.Hour
	targets, err := catalog.NewTargets(map[string]catalog.Override{"queue_depth": {Threshold: &threshold, For: &wait, Severity: catalog.Page}})
	if err != nil {
		t.Fatal(err)
	}
	c := alerts.Config{Controllers: map[string]alerts.Controller{
		"garbage.collector": {Targets: targets},
		"widgets":           {Labels: map[string]string{"team": "widgets"}},
	}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	of := map[string][]alerts.Rule{}
	for _, r := range rules(c) {
		of[r.Alert] = append(of[r.Alert], r)
	}
	deep := of["ControllerQueueDeep"]
	if len(deep) != 3 {
		t.Fatalf("ControllerQueueDeep has %d rules", len(deep))
	}
	for i, want := range []struct{ matcher, limit, wait, severity, team string }{
		{`workqueue_depth{name!~"garbage\\.collector|widgets"}`, "> 1000\n", "5m", "ticket", ""},
		{`workqueue_depth{name="garbage.collector"}`, "> 20000\n", "2h", "page", ""},
		{`workqueue_depth{name="widgets"}`, "> 1000\n", "5m", "ticket", "widgets"},
	} {
		r := deep[i]
		if !strings.Contains(r.Expr, want.matcher) || !strings.Contains(r.Expr, want.limit) || r.For != want.wait || r.Labels["severity"] != want.severity || r.Labels["team"] != want.team {
			t.Errorf("rule %d: %+v", i, r)
		}
	}
	// Only its labels differ, and the objective of another alert does not matter to it.
	failing := of["ControllerReconcileErrors"]
	if len(failing) != 2 || !strings.Contains(failing[0].Expr, `{controller!~"widgets", `) || !strings.Contains(failing[1].Expr, `{controller="widgets", `) || failing[1].Labels["team"] != "widgets" {
		t.Errorf("ControllerReconcileErrors: %+v", failing)
	}
	if n := len(of["InformerWatchDown"]); n != 1 {
		t.Errorf("InformerWatchDown is about no controller and has %d rules", n)
	}
	for _, list := range of {
		for _, r := range list {
			q, err := promql.Scan(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range q.Series {
				for _, m := range s.Matchers {
					if found, ok := catalog.ByName(strings.TrimSuffix(strings.TrimSuffix(s.Name, "_bucket"), "_count")); ok && (m.Label == "name" || m.Label == "controller") && !slices.Contains(found.LabelNames(), m.Label) {
						t.Errorf("%s: %s has no label %s", r.Alert, s.Name, m.Label)
					}
				}
			}
		}
	}
}

func TestGroups(t *testing.T) {
	c := alerts.Config{Groups: []string{"upstream", "leases"}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, g := range alerts.Rules(c) {
		found[g.Name] = len(g.Rules)
	}
	if want := map[string]int{"informer-exporter.upstream": 4, "informer-exporter.leases": 2}; !maps.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}

// The rules for programs that do not use the library read nothing but what client-go itself reports.
func TestUpstreamRulesWorkAlone(t *testing.T) {
	for _, g := range alerts.Rules(alerts.Config{Groups: []string{"upstream"}}) {
		for _, r := range g.Rules {
			q, err := promql.Scan(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range q.Series {
				if !strings.HasPrefix(s.Name, "workqueue_") && !strings.HasPrefix(s.Name, "leader_election_") {
					t.Errorf("%s reads %s", r.Alert, s.Name)
				}
			}
		}
	}
}
