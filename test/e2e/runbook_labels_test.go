package e2e_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// expand returns an annotation as Prometheus sends it.
func expand(t *testing.T, text string, labels map[string]string) string {
	t.Helper()
	data := template.AlertTemplateData(labels, nil, "", promql.Sample{F: 1})
	address, err := url.Parse("http://prometheus.example.com")
	if err != nil {
		t.Fatal(err)
	}
	expanded, err := template.NewTemplateExpander(t.Context(), "{{$labels := .Labels}}{{$value := .Value}}"+text, "annotation", data, model.Now(), nil, address, nil).Expand()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return expanded
}

// rulesOf returns the alerting rules.
func rulesOf(c alerts.Config) (list []alerts.Rule) {
	for _, g := range alerts.Rules(c) {
		for _, r := range g.Rules {
			if _, ok := alerts.ByName(r.Alert); ok {
				list = append(list, r)
			}
		}
	}
	return list
}

// TestExploreURLs opens the links of alerts as Grafana does: a JSON object with the panes, each with its queries. Values that a
// program chose must reach Prometheus as they are.
func TestExploreURLs(t *testing.T) {
	const odd = `a "b" \c %d 'd' {{ .x }} é&?#+`
	for _, c := range []alerts.Config{
		{GrafanaURL: "https://grafana.example.com/"},
		{GrafanaURL: "https://grafana.example.com", Labels: map[string]string{"cluster": "k8s", "namespace": "ns", "pod": "p"}, Selector: "env=\"pr`d%\""},
	} {
		for _, r := range rulesOf(c) {
			labels := map[string]string{}
			for _, m := range labelInTemplate.FindAllStringSubmatch(r.Annotations[alerts.ExploreAnnotation]+r.Annotations[alerts.VariablesAnnotation], -1) {
				labels[m[1]] = m[1] + odd
			}
			u, err := url.Parse(expand(t, r.Annotations[alerts.ExploreAnnotation], labels))
			if err != nil || u.Host != "grafana.example.com" || u.Path != "/explore" || u.Query().Get("schemaVersion") != "1" {
				t.Errorf("%s: %v: %s", r.Alert, err, u)
				continue
			}
			var panes map[string]struct {
				Queries []struct{ RefID, Expr string }
			}
			if err := json.Unmarshal([]byte(u.Query().Get("panes")), &panes); err != nil {
				t.Errorf("%s: %v\n%s", r.Alert, err, u.Query().Get("panes"))
			}
			a, _ := alerts.ByName(r.Alert)
			if got, want := len(panes["run"].Queries), len(a.Runbook.Queries); got != want || want == 0 {
				t.Errorf("%s: %d queries, want %d", r.Alert, got, want)
			}
			for _, q := range panes["run"].Queries {
				if _, err := parser.NewParser(parser.Options{}).ParseExpr(q.Expr); err != nil || strings.Contains(q.Expr, "$") || q.RefID == "" {
					t.Errorf("%s: %v: %s", r.Alert, err, q.Expr)
					continue
				}
				for _, v := range selectorsOf(t, q.Expr) {
					for _, m := range v.LabelMatchers {
						if value, ok := labels[m.Name]; ok && strings.Contains(m.Value, odd) && m.Value != value {
							t.Errorf("%s: %s is %q", r.Alert, m.Name, m.Value)
						}
					}
				}
				if strings.Contains(c.Selector, "env") && !strings.Contains(q.Expr, "env=") && !strings.Contains(q.Expr, "instance:") { // recorded from selected series
					t.Errorf("%s: no selector in %s", r.Alert, q.Expr)
				}
			}
			if !strings.Contains(u.Query().Get("panes"), "cluster") && !strings.Contains(u.Query().Get("panes"), "k8s=") {
				t.Errorf("%s: no query is for the cluster of the alert", r.Alert)
			}
		}
	}
	for _, r := range rulesOf(alerts.Config{}) {
		if u, ok := r.Annotations[alerts.ExploreAnnotation]; ok {
			t.Errorf("%s: without the URL of Grafana, the link is %s", r.Alert, u)
		}
	}
}

// TestVariablesAreSafe pastes the variables of each alert into a shell. A program must not be able to run a command through
// the value of a label.
func TestVariablesAreSafe(t *testing.T) {
	for _, r := range rulesOf(alerts.Config{}) {
		labels := map[string]string{}
		for _, m := range labelInTemplate.FindAllStringSubmatch(r.Annotations[alerts.VariablesAnnotation], -1) {
			labels[m[1]] = "kube-system/x.y_" + m[1] + "'; echo broken; '`echo $(echo \"broken\")`\n"
		}
		if len(labels) == 0 {
			t.Errorf("%s: no variables", r.Alert)
		}
		assigned := expand(t, r.Annotations[alerts.VariablesAnnotation], labels)
		script := assigned
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			script += "\necho \"$" + strings.ToUpper(name) + "\""
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-uc", script).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) != len(labels) {
			t.Errorf("%s: %v: %s\n%s", r.Alert, err, out, script)
		}
		for i, name := range slices.Sorted(maps.Keys(labels)) {
			if i < len(lines) && !strings.HasPrefix(lines[i], "kube-system/x.y_"+name) {
				t.Errorf("%s: %s is %q", r.Alert, name, lines[i])
			}
		}
	}
}
