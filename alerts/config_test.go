package alerts_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// Links and the Alertmanager configuration use renamed labels. Only alerts get the extra labels.
// test/e2e checks the queries with Prometheus' parser.
func TestLabelsReachTheRules(t *testing.T) {
	c := alerts.Config{
		Labels:      map[string]string{"cluster": "k8s", "job": "service", "instance": "process", "namespace": "k8s_namespace", "pod": "k8s_pod"},
		Selector:    `env="prod"`,
		ExtraLabels: map[string]string{"team": "platform"},
		Dashboards:  alerts.Dashboards{Informers: "https://grafana.example.com/d/i"},
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
		if slices.Equal(rule.Source, []string{`alertname="ClusterObjectHeld"`}) {
			if !slices.Equal(rule.Equal, []string{"k8s", "namespace"}) {
				t.Errorf("the namespace of an object is compared by %v", rule.Equal)
			}
			continue
		}
		labels = append(labels, rule.Equal...)
	}
	if !slices.Contains(labels, "k8s_namespace") {
		t.Error("Alertmanager does not compare the namespaces of programs")
	}
	for name := range c.Labels {
		if slices.Contains(labels, name) {
			t.Errorf("Alertmanager compares the label %s, which is called %s", name, c.Labels[name])
		}
	}
}

// Rules, routes, inhibitions and runbooks use renamed severities. The configuration and the receivers keep the names
// page, ticket and info.
func TestSeverityNames(t *testing.T) {
	names := map[string]string{"label": "priority", "page": "critical", "ticket": "warning", "info": "notice"}
	c := alerts.Config{Severities: names, Alertmanager: alerts.Alertmanager{
		WebhookURLs: map[string]string{"page": "http://127.0.0.1:1/page"}, Teams: map[string]map[string]string{"storage": {"page": "http://127.0.0.1:1/p"}},
	}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	before := rules(alerts.Config{})
	for i, r := range rules(c) {
		if _, usual := r.Labels["severity"]; usual || r.Labels["priority"] != names[before[i].Labels["severity"]] {
			t.Errorf("%s%s has the labels %v", r.Record, r.Alert, r.Labels)
		}
	}
	raw, err := alerts.AlertmanagerFile(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "severity") {
		t.Errorf("the label is called priority, but Alertmanager reads\n%s", raw)
	}
	am := alertmanager(t, c)
	for i, want := range []struct {
		receiver string
		matchers []string
	}{
		{"null", []string{`alertname="KubernetesAPIUnreachable"`, `mutes!=""`}},
		{"storage-page", []string{`team="storage"`, `priority="critical"`}},
		{"page", []string{`priority="critical"`}}, {"ticket", []string{`priority="warning"`}}, {"info", []string{`priority="notice"`}},
	} {
		if r := am.Route.Routes[i]; r.Receiver != want.receiver || !slices.Equal(r.Matchers, want.matchers) {
			t.Errorf("route %d: %+v, want %+v", i, r, want)
		}
	}
	burn, _ := alerts.ByName("InformerEventLagBurn")
	if page := string(alerts.RunbookPage(burn, c)); !strings.Contains(page, "With `priority: critical`, act now. With `priority: warning`, it can wait") {
		t.Errorf("the runbook names other severities:\n%s", page)
	}
	unreachable, _ := alerts.ByName("KubernetesAPIUnreachable")
	if page := string(alerts.RunbookPage(unreachable, c)); !strings.Contains(page, "Two rules with severity `notice`") {
		t.Errorf("the runbook names other severities:\n%s", page)
	}
}

// A controller with its own objectives or labels has its own rules for what they change, and the general rules exclude it.
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
	// Only the labels of widgets differ. The objective of another alert has no effect here.
	failing := of["ControllerReconcileErrors"]
	if len(failing) != 2 || !strings.Contains(failing[0].Expr, `{controller!~"widgets", `) || !strings.Contains(failing[1].Expr, `{controller="widgets", `) || failing[1].Labels["team"] != "widgets" {
		t.Errorf("ControllerReconcileErrors: %+v", failing)
	}
	if n := len(of["InformerWatchDown"]); n != 1 {
		t.Errorf("InformerWatchDown is not an alert on controllers, but has %d rules", n)
	}
}

// Any field of its objective gives a controller its own rule.
func TestOneFieldOfAController(t *testing.T) {
	threshold, long := 20000.0, 2*time.Hour
	for field, override := range map[string]catalog.Override{
		"threshold": {Threshold: &threshold}, "window": {Window: &long}, "for": {For: &long}, "severity": {Severity: catalog.Page},
	} {
		targets, err := catalog.NewTargets(map[string]catalog.Override{"queue_depth": override})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range rules(alerts.Config{Controllers: map[string]alerts.Controller{"widgets": {Targets: targets}}}) {
			if r.Alert == "ControllerQueueDeep" {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%s: %d rules, want 2", field, n)
		}
	}
}

// A slow queue is a ticket, except for controllers with owners who want to be paged.
func TestQueueSlowPagesWhereItsOwnerSetsIt(t *testing.T) {
	targets, err := catalog.NewTargets(map[string]catalog.Override{"queue_wait_p99": {Severity: catalog.Page}})
	if err != nil {
		t.Fatal(err)
	}
	c := alerts.Config{Controllers: map[string]alerts.Controller{"payments": {Targets: targets}}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range rules(c) {
		if r.Alert == "ControllerQueueSlow" {
			got[r.Labels["name"]] = r.Labels[alerts.SeverityLabel]
			if own := strings.Contains(r.Expr, `{name="payments"}`); own != (r.Labels["name"] == "payments") || !own && !strings.Contains(r.Expr, `{name!~"payments"}`) {
				t.Errorf("the rule of %q: %s", r.Labels["name"], r.Expr)
			}
		}
	}
	if want := map[string]string{"": "ticket", "payments": "page"}; !maps.Equal(got, want) {
		t.Errorf("severities by name: %v, want %v", got, want)
	}
}

// ControllerReconcileSlow fires only for controllers with a threshold of their own (B7).
func TestReconcileSlow(t *testing.T) {
	threshold := 1.0
	targets, err := catalog.NewTargets(map[string]catalog.Override{"reconcile_duration": {Threshold: &threshold}})
	if err != nil {
		t.Fatal(err)
	}
	c := alerts.Config{Controllers: map[string]alerts.Controller{"slow": {Targets: targets}, "quick": {Targets: targets}, "seldom": {Targets: targets}}}
	test := promtool.Test{Name: "ControllerReconcileSlow", Interval: "30s"}
	for controller, values := range map[string][2]string{ // up to 1 s, and all
		"slow":            {"0+100x40 4000+104x60", "0+104x40 4160+104x60"},
		"quick":           {"0+100x100", "0+100x100"},
		"seldom":          {"0x100", "0+4x100"},
		"without its own": {"0x100", "0+104x100"},
	} {
		labels := fmt.Sprintf(`{cluster="eu", job="c", instance="a", name="ctl", controller=%q, result="success"`, controller)
		for le, v := range map[string]string{"1.0": values[0], "5.0": values[1], "+Inf": values[1]} {
			test.Series = append(test.Series, promtool.Series{Series: "controller_reconcile_duration_seconds_bucket" + labels + fmt.Sprintf(`, le=%q}`, le), Values: v})
		}
		test.Series = append(test.Series, promtool.Series{Series: "controller_reconcile_duration_seconds_count" + labels + "}", Values: values[1]})
	}
	firing := func(at string, samples ...promtool.Sample) {
		test.Queries = append(test.Queries, promtool.Query{Expr: `ALERTS{alertname="ControllerReconcileSlow", alertstate="firing"}`, At: at, Samples: samples})
	}
	firing("9m")
	firing("20m", promtool.Sample{Labels: `ALERTS{alertname="ControllerReconcileSlow", alertstate="firing", severity="ticket", cluster="eu", job="c", name="ctl", controller="slow"}`, Value: 1})
	firing("45m")
	if out, ok := promtool.Run(t, "30s", []promtool.Test{test}, only([]string{"ControllerReconcileSlow"}, alerts.Rules(c))); !ok {
		t.Error(out)
	}
	if groups := only([]string{"ControllerReconcileSlow"}, alerts.Rules(alerts.Config{})); len(groups) != 0 {
		t.Errorf("without thresholds of controllers: %v", groups)
	}
}

// A controller opts in with any threshold, even the default one; a threshold for all controllers is not enough.
func TestReconcileSlowAtTheDefault(t *testing.T) {
	threshold := catalog.Objectives.ReconcileDuration.Threshold
	with := func(threshold *float64) catalog.Targets {
		targets, err := catalog.NewTargets(map[string]catalog.Override{"reconcile_duration": {Threshold: threshold}})
		if err != nil {
			t.Fatal(err)
		}
		return targets
	}
	equal, general := threshold, with(&threshold)
	for name, test := range map[string]struct {
		general, own catalog.Targets
		want         int
	}{
		"default":              {catalog.Targets{}, general, 1},
		"equal to the general": {general, with(&equal), 1},
		"inherited":            {general, general, 0},
		"none":                 {catalog.Targets{}, catalog.Targets{}, 0},
	} {
		c := alerts.Config{Targets: test.general, Controllers: map[string]alerts.Controller{"slow": {Targets: test.own, Labels: map[string]string{"team": "x"}}}}
		n := 0
		for _, r := range rules(c) {
			if r.Alert == "ControllerReconcileSlow" {
				n++
			}
		}
		if n != test.want {
			t.Errorf("%s: %d rules, want %d", name, n, test.want)
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
	if want := map[string]int{"informer-exporter.upstream": 9, "informer-exporter.leases": 4}; !maps.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
}

func TestDisabledAlertsAreLeftOut(t *testing.T) {
	c := alerts.Config{Disabled: []string{"InformerEventLagBurn", "InformerWatchDown"}}
	for _, r := range rules(c) {
		if slices.Contains(c.Disabled, r.Alert) || strings.Contains(r.Record, "event_lag") {
			t.Errorf("%s%s is still generated", r.Alert, r.Record)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, c := range map[string]alerts.Config{
		`disabled: unknown alert "Nope"`:                                    {Disabled: []string{"Nope"}},
		`handlers: the threshold 0.3 of "h" is not a bucket`:                {HandlerThresholds: map[string]float64{"h": .3}},
		"use one of [0.0001":                                                {HandlerThresholds: map[string]float64{"h": 30}}, // the top bucket
		"the name of a handler must not be empty":                           {HandlerThresholds: map[string]float64{"": .5}},
		"contains a template":                                               {Dashboards: alerts.Dashboards{APIClient: "https://{{ .x }}"}},
		`alertmanager.webhookURLs: "pager" is not a severity`:               {Alertmanager: alerts.Alertmanager{WebhookURLs: map[string]string{"pager": "http://x"}}},
		`alertmanager.webhookURLs.page: "x" is not an http`:                 {Alertmanager: alerts.Alertmanager{WebhookURLs: map[string]string{"page": "x"}}},
		`alertmanager.teams.a: "pager" is not a severity`:                   {Alertmanager: alerts.Alertmanager{Teams: map[string]map[string]string{"a": {"pager": "http://x"}}}},
		`alertmanager.teams: "a b" is not a valid team name`:                {Alertmanager: alerts.Alertmanager{Teams: map[string]map[string]string{"a b": {}}}},
		`groups: unknown group "queue"; use one of cache`:                   {Groups: []string{"queue"}},
		`selector: "env" is not a list of matchers`:                         {Selector: "env"},
		`selector: "x=\"y\"} or up{" is not a list of matchers`:             {Selector: `x="y"} or up{`},
		`labelNames: "name" cannot be renamed`:                              {Labels: map[string]string{"name": "x"}},
		`labelNames.cluster: "a b" is not a valid label name`:               {Labels: map[string]string{"cluster": "a b"}},
		`labelNames.job: "x" is the name of another label`:                  {Labels: map[string]string{"cluster": "x", "job": "x"}},
		`labelNames.cluster: "job" is the name of another label`:            {Labels: map[string]string{"cluster": "job"}},
		`selector: "env=\"x\" job=\"y\"" is not a list of matchers`:         {Selector: `env="x" job="y"`},
		`selector: "env=\"x\"," is not a list of matchers`:                  {Selector: `env="x",`},
		`selector: "__name__=\"x\"" is not a list of matchers`:              {Selector: `__name__="x"`},
		`labelNames.cluster: "severity" is the name of another label`:       {Labels: map[string]string{"cluster": "severity"}},
		`labels: "k8s" is set by the rules`:                                 {Labels: map[string]string{"cluster": "k8s"}, ExtraLabels: map[string]string{"k8s": "x"}},
		`labels: "__name__" is set by the rules`:                            {ExtraLabels: map[string]string{"__name__": "x"}},
		`severities: unknown key "critical"; use label, page, ticket, info`: {Severities: map[string]string{"critical": "page"}},
		`severities.label: "a b" is not a valid label name`:                 {Severities: map[string]string{"label": "a b"}},
		`severities.label: "name" is the name of another label`:             {Severities: map[string]string{"label": "name"}},
		`severities.label: "team" is the name of another label`:             {Severities: map[string]string{"label": "team"}},
		`severities.label: "k8s" is the name of another label`:              {Labels: map[string]string{"cluster": "k8s"}, Severities: map[string]string{"label": "k8s"}},
		`severities.page: "very bad" is not a valid severity`:               {Severities: map[string]string{"page": "very bad"}},
		`severities.info: "" is not a valid severity`:                       {Severities: map[string]string{"info": ""}},
		`severities.info: "none" is reserved`:                               {Severities: map[string]string{"info": "none"}},
		`severities.ticket: "high" is the value of page, too`:               {Severities: map[string]string{"page": "high", "ticket": "high"}},
		`severities.ticket: "page" is the value of page, too`:               {Severities: map[string]string{"ticket": "page"}},
		`labels: "priority" is set by the rules`:                            {Severities: map[string]string{"label": "priority"}, ExtraLabels: map[string]string{"priority": "x"}},
		`labels: "severity" is set by the rules`:                            {ExtraLabels: map[string]string{"severity": "x"}},
		`labels.team: "{{ .x }}" contains a template`:                       {ExtraLabels: map[string]string{"team": "{{ .x }}"}},
		`controllers: the name of a controller must not be empty`:           {Controllers: map[string]alerts.Controller{"": {}}},
		`controllers.a.labels: "handler" is set by the rules`:               {Controllers: map[string]alerts.Controller{"a": {Labels: map[string]string{"handler": "x"}}}},
		`alertmanager.groupWait: -1s must not be neg`:                       {Alertmanager: alerts.Alertmanager{GroupWait: -time.Second}},
		`alertmanager.groupBy: "a b" is not a valid label name`:             {Alertmanager: alerts.Alertmanager{GroupBy: []string{"a b"}}},
		`alertmanager.groupBy: "name" is not a valid label name, or i`:      {Alertmanager: alerts.Alertmanager{GroupBy: []string{"name", "name"}}},
		`leaseNamespaces: "a.*" is not the name of a namespace`:             {LeaseNamespaces: []string{"a.*"}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := (alerts.Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}
