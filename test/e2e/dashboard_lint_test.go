package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

type tree = map[string]any

// lint returns the problems of a classic dashboard: what Grafana would draw badly without a warning, and what dashboard-linter
// reports. The SDK's own validation finds neither.
func lint(raw []byte) (problems []string) {
	var m boardModel
	if err := json.Unmarshal(raw, &m); err != nil {
		return []string{"no dashboard: " + err.Error()}
	}
	for _, r := range boardRules {
		for _, p := range r.check(m) {
			problems = append(problems, r.name+": "+p)
		}
	}
	return problems
}

// Every dashboard passes all rules.
func TestDashboardsAreLinted(t *testing.T) {
	for _, d := range boards(t, dashboards.Config{RunbookBase: "https://runbooks.example.com"}) {
		for _, problem := range lint(d.JSON) {
			t.Errorf("%s: %s", d.UID, problem)
		}
	}
}

// Each rule must report its fault in a real dashboard.
func TestLintFindsFaults(t *testing.T) {
	raw := boards(t, dashboards.Config{RunbookBase: "https://runbooks.example.com"})[1].JSON

	panel := func(d tree, kind string) tree {
		for _, p := range d["panels"].([]any) {
			if p.(tree)["type"] == kind {
				return p.(tree)
			}
		}
		t.Fatalf("no panel of type %s", kind)
		return nil
	}
	graph := func(d tree) tree { return panel(d, "timeseries") }
	target := func(d tree) tree { return graph(d)["targets"].([]any)[0].(tree) }
	variable := func(d tree, name string) tree {
		for _, v := range d["templating"].(tree)["list"].([]any) {
			if v.(tree)["name"] == name {
				return v.(tree)
			}
		}
		t.Fatalf("no variable %s", name)
		return nil
	}
	edit := func(from, to string) func(tree) {
		return func(d tree) { target(d)["expr"] = strings.ReplaceAll(target(d)["expr"].(string), from, to) }
	}

	for _, c := range []struct {
		rule  string
		fault func(tree)
	}{
		{"template-datasource", func(d tree) { variable(d, "datasource")["label"] = "DS" }},
		{"template-job", func(d tree) { variable(d, "job")["allValue"] = ".*" }},
		{"template-instance", func(d tree) { variable(d, "instance")["multi"] = false }},
		{"template-label-promql", func(d tree) { variable(d, "name")["definition"] = "label_values(up{, name)" }},
		{"template-on-time-change-reload", func(d tree) { variable(d, "name")["refresh"] = 1 }},
		{"panel-datasource", func(d tree) { graph(d)["datasource"].(tree)["uid"] = "prometheus" }},
		{"panel-title-description", func(d tree) { graph(d)["description"] = "" }},
		{"panel-units", func(d tree) { delete(graph(d)["fieldConfig"].(tree)["defaults"].(tree), "unit") }},
		{"panel-no-targets", func(d tree) { graph(d)["targets"] = []any{} }},
		{"target-promql", edit("max by", "max((")},
		{"target-rate-interval", func(d tree) {
			target(d)["expr"] = `rate(k8s_informer_watches_total{cluster="$cluster",job=~"$job",instance=~"$instance"}[5m])`
		}},
		{"target-rate-interval", func(d tree) { // the window of an objective is for an increase only
			target(d)["expr"] = `rate(controller_leader_transitions_total{cluster="$cluster",job=~"$job",instance=~"$instance"}[15m])`
		}},
		{"target-rate-interval", func(d tree) {
			target(d)["expr"] = `increase(controller_leader_transitions_total{cluster="$cluster",job=~"$job",instance=~"$instance"}[5m])`
		}},
		{"target-job", edit(`job=~"$job"`, `job="x"`)},
		{"target-instance", edit(`instance=~"$instance", `, "")},
		{"target-cluster", edit(`cluster="$cluster"`, `cluster=~"$cluster"`)},
		{"target-counter-agg", edit("k8s_informer_sync_lag_seconds", "k8s_informer_watches_total")},
		{"target-counter-agg", edit("k8s_informer_sync_lag_seconds", "k8s_informer_sync_lag")},
		{"uneditable-dashboard", func(d tree) { d["editable"] = true }},
		{"identity", func(d tree) { d["uid"] = strings.Repeat("a", 41) }},
		{"identity", func(d tree) { d["schemaVersion"] = 35 }},
		{"ids", func(d tree) { graph(d)["id"] = 0 }},
		{"ids", func(d tree) { graph(d)["id"] = panel(d, "stat")["id"] }},
		{"grid", func(d tree) { graph(d)["gridPos"].(tree)["x"] = 20 }},
		{"grid", func(d tree) { graph(d)["gridPos"].(tree)["y"] = 0 }},
		{"target-ref-id", func(d tree) { target(d)["refId"] = "" }},
		{"target-datasource", func(d tree) { delete(target(d), "datasource") }},
		{"target-legend", func(d tree) { target(d)["legendFormat"] = "" }},
		{"panel-legend-tooltip", func(d tree) { graph(d)["options"].(tree)["legend"].(tree)["showLegend"] = false }},
		{"panel-legend-tooltip", func(d tree) { graph(d)["options"].(tree)["tooltip"].(tree)["mode"] = "" }},
		{"panel-overrides", func(d tree) {
			graph(d)["fieldConfig"].(tree)["overrides"] = []any{tree{"properties": nil}}
		}},
		{"links", func(d tree) { d["links"].([]any)[0].(tree)["type"] = "" }},
		{"variables-used", edit("$name", "$nme")},
	} {
		var d tree
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		c.fault(d)
		broken, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range lint(broken) {
			found = found || strings.HasPrefix(p, c.rule+": ")
		}
		if !found {
			t.Errorf("%s does not find its fault; found: %v", c.rule, lint(broken))
		}
	}
	if problems := lint([]byte("{")); len(problems) != 1 {
		t.Errorf("invalid JSON: %v", problems)
	}
}
