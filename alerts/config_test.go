package alerts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Labels under other names reach the links and Alertmanager, and the labels that every alert gets reach the alerts only.
// Their queries are checked with Prometheus' parser in test/e2e.
func TestLabelsReachTheRules(t *testing.T) {
	c := alerts.Config{
		Labels:      map[string]string{"cluster": "k8s", "job": "service", "instance": "process"},
		Selector:    `env="prod"`,
		ExtraLabels: map[string]string{"team": "platform"},
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	before := rules(alerts.Config{})
	for i, r := range rules(c) {
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
	if want := map[string]int{"informer-exporter.upstream": 4, "informer-exporter.leases": 3}; !maps.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}
