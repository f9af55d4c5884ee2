package alerts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func rules(c alerts.Config) (all []alerts.Rule) {
	for _, g := range alerts.Rules(c) {
		all = append(all, g.Rules...)
	}
	return all
}

var (
	placeholder = regexp.MustCompile(`\$(threshold|objective|quantile|window|count|bound|for|long|budget|factor)\b|@(cluster|job|instance)\b`)
	levelMetric = regexp.MustCompile(`^[a-z_]+:[a-z0-9_]+:[a-z0-9_]+$`)
)

func TestRulesAreComplete(t *testing.T) {
	c := alerts.Config{RunbookBase: "https://runbooks.example.com/", Dashboards: alerts.Dashboards{
		Overview: "https://grafana.example.com/d/s", Informers: "https://grafana.example.com/d/i", Controllers: "https://grafana.example.com/d/c",
		LeaderElection: "https://grafana.example.com/d/l", APIClient: "https://grafana.example.com/d/a",
		Objects: "https://grafana.example.com/d/o", Exporter: "https://grafana.example.com/d/e",
	}}
	boards := map[string]bool{}
	var seen []string
	for _, r := range rules(c) {
		if (r.Record == "") == (r.Alert == "") {
			t.Errorf("%+v is no rule", r)
		}
		if strings.ContainsAny(r.Expr, "$@") || strings.Contains(r.Expr, "%!") {
			t.Errorf("%s%s: something was not filled in: %s", r.Alert, r.Record, r.Expr)
		}
		key := r.Record + r.Alert + r.Labels["severity"] + r.Labels["window"]
		if slices.Contains(seen, key) {
			t.Errorf("%s is repeated", key)
		}
		seen = append(seen, key)
		if r.Record != "" {
			if !levelMetric.MatchString(r.Record) {
				t.Errorf("%s is not named level:metric:operations", r.Record)
			}
			continue
		}
		if s := r.Labels["severity"]; s != "page" && s != "ticket" && s != "info" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
		if r.For == "" {
			t.Errorf("%s has no for", r.Alert)
		}
		for _, name := range []string{"summary", "description", "runbook_url", "dashboard_url"} {
			text := r.Annotations[name]
			if text == "" || placeholder.MatchString(text) {
				t.Errorf("%s: %s is %q", r.Alert, name, text)
			}
			if strings.Count(text, "{{") != strings.Count(text, "}}") {
				t.Errorf("%s: %s has an open template: %s", r.Alert, name, text)
			}
		}
		if want := "https://runbooks.example.com/" + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %q", r.Alert, r.Annotations["runbook_url"])
		}
		board, _, ok := strings.Cut(r.Annotations["dashboard_url"], "?from=")
		if !ok || strings.HasPrefix(r.Alert, "InformerExporter") != (board == c.Dashboards.Exporter) ||
			strings.HasPrefix(r.Alert, "Informer") != (board == c.Dashboards.Informers || board == c.Dashboards.Exporter) {
			t.Errorf("%s: dashboard_url %q", r.Alert, r.Annotations["dashboard_url"])
		}
		boards[board] = true
	}
	if len(boards) != 7 {
		t.Errorf("alerts lead to the dashboards %v", boards)
	}
}

// A threshold that is changed must reach the expression, the text, the runbook and nothing else.
func TestObjectivesReachTheRules(t *testing.T) {
	before := rules(alerts.Config{})
	for _, o := range catalog.Objectives.All() {
		if o.Fixed || o.ID == catalog.Objectives.SyncDurationQuantile.ID { // the latter is drawn only
			continue
		}
		threshold := 77.0
		switch {
		case o.Quantile > 0:
			threshold = o.Metric.Buckets[0]
		case o.Unit == "percentunit":
			threshold = .77
		}
		targets, err := catalog.NewTargets(map[string]catalog.Override{o.ID: {Threshold: &threshold}})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rules(alerts.Config{Targets: targets}) {
			own := r.Record != "" && strings.Contains(r.Record, "slow_ratio") && o.ID == catalog.Objectives.EventLag.ID
			if a, ok := alerts.ByName(r.Alert); ok && o.BurnRates == nil {
				own = a.Objective.ID == o.ID
			}
			if changed := r.Expr != before[i].Expr; changed != own {
				t.Errorf("%s: %s%s changed: %v, want %v", o.ID, r.Alert, r.Record, changed, own)
			}
		}
	}
}

// TestWindowsReachTheRules: a window that can be changed and is not used would be a setting that does nothing.
func TestWindowsReachTheRules(t *testing.T) {
	window, changed := 7*time.Minute, 0
	for _, o := range catalog.Objectives.All() {
		targets, err := catalog.NewTargets(map[string]catalog.Override{o.ID: {Window: &window}})
		if err != nil {
			continue
		}
		changed++
		if !slices.ContainsFunc(rules(alerts.Config{Targets: targets}), func(r alerts.Rule) bool {
			return strings.Contains(r.Expr, "[7m]") || strings.Contains(r.Expr, "offset 7m") || strings.Contains(r.Expr, "time() - 420")
		}) {
			t.Errorf("%s: no rule has the window", o.ID)
		}
	}
	if changed < 10 {
		t.Errorf("only %d windows can be changed", changed)
	}
}

// TestPages: what pages by default, each for its reason. More need a very good one.
func TestPages(t *testing.T) {
	var got []string
	for _, r := range rules(alerts.Config{}) {
		if r.Labels[alerts.SeverityLabel] == string(catalog.Page) && !slices.Contains(got, r.Alert) {
			got = append(got, r.Alert)
		}
	}
	slices.Sort(got)
	want := []string{
		"ControllerLeaderMissing",   // nothing is reconciled
		"InformerCacheDiffers",      // controllers act on what does not exist, until a restart
		"InformerEventLagBurn",      // a month's budget is gone within two to five days
		"InformerVersionRegression", // every cache of the cluster may be from another history
		"KubernetesAPIUnreachable",  // nothing works
	}
	if !slices.Equal(got, want) {
		t.Errorf("by default these page: %q, want %q", got, want)
	}
}

func TestBurnRates(t *testing.T) {
	type pair struct{ window, severity, wait string }
	var got []pair
	for _, r := range rules(alerts.Config{}) {
		if r.Alert == "InformerEventLagBurn" {
			got = append(got, pair{r.Labels["window"], r.Labels["severity"], r.For})
			if w := r.Labels["window"]; !strings.Contains(r.Expr, "rate"+w+" >") || !strings.Contains(r.Annotations["description"], "during the last "+w) {
				t.Errorf("window %s: %s\n%s", w, r.Expr, r.Annotations["description"])
			}
		}
	}
	want := []pair{{"1h", "page", "2m"}, {"6h", "page", "15m"}, {"1d", "ticket", "1h"}, {"3d", "ticket", "3h"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHandlersOfTheirOwn(t *testing.T) {
	c := alerts.Config{HandlerThresholds: map[string]float64{"a.b": .5, "c": 1}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules(c) {
		if r.Alert == "InformerHandlerSlow" {
			first, _, _ := strings.Cut(r.Expr, "\n")
			got = append(got, first[strings.Index(first, "_bucket{")+7:])
		}
	}
	want := []string{`{handler!~"a\\.b|c"}[5m]))) > 0.12`, `{handler="a.b"}[5m]))) > 0.5`, `{handler="c"}[5m]))) > 1`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDisabledAlertsAreLeftOut(t *testing.T) {
	c := alerts.Config{Disabled: []string{"InformerEventLagBurn", "InformerWatchDown"}}
	for _, r := range rules(c) {
		if slices.Contains(c.Disabled, r.Alert) || strings.Contains(r.Record, "event_lag") {
			t.Errorf("%s%s is still there", r.Alert, r.Record)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for want, c := range map[string]alerts.Config{
		`disabled: unknown alert "Nope"`:                               {Disabled: []string{"Nope"}},
		`handlers: the threshold 0.3 of "h" is not a bucket`:           {HandlerThresholds: map[string]float64{"h": .3}},
		"use one of [1e-05":                                            {HandlerThresholds: map[string]float64{"h": 30}}, // the top bucket
		"the name of a handler must not be empty":                      {HandlerThresholds: map[string]float64{"": .5}},
		"contains a template":                                          {Dashboards: alerts.Dashboards{APIClient: "https://{{ .x }}"}},
		`alertmanager.webhookURLs: "pager" is not a severity`:          {Alertmanager: alerts.Alertmanager{WebhookURLs: map[string]string{"pager": "http://x"}}},
		`alertmanager.webhookURLs.page: "x" is not an http`:            {Alertmanager: alerts.Alertmanager{WebhookURLs: map[string]string{"page": "x"}}},
		`alertmanager.teams.a: "pager" is not a severity`:              {Alertmanager: alerts.Alertmanager{Teams: map[string]map[string]string{"a": {"pager": "http://x"}}}},
		`alertmanager.teams: "a b" is not a valid team name`:           {Alertmanager: alerts.Alertmanager{Teams: map[string]map[string]string{"a b": {}}}},
		`groups: unknown group "queue"; use one of cache`:              {Groups: []string{"queue"}},
		`selector: "env" is not a list of matchers`:                    {Selector: "env"},
		`selector: "x=\"y\"} or up{" is not a list of matchers`:        {Selector: `x="y"} or up{`},
		`labelNames: "name" cannot be renamed`:                         {Labels: map[string]string{"name": "x"}},
		`labelNames.cluster: "a b" is not a valid label name`:          {Labels: map[string]string{"cluster": "a b"}},
		`labelNames.job: "x" is the name of another label`:             {Labels: map[string]string{"cluster": "x", "job": "x"}},
		`labelNames.cluster: "job" is the name of another label`:       {Labels: map[string]string{"cluster": "job"}},
		`selector: "env=\"x\" job=\"y\"" is not a list of matchers`:    {Selector: `env="x" job="y"`},
		`selector: "env=\"x\"," is not a list of matchers`:             {Selector: `env="x",`},
		`selector: "__name__=\"x\"" is not a list of matchers`:         {Selector: `__name__="x"`},
		`labelNames.cluster: "severity" is the name of another label`:  {Labels: map[string]string{"cluster": "severity"}},
		`labels: "k8s" is set by the rules`:                            {Labels: map[string]string{"cluster": "k8s"}, ExtraLabels: map[string]string{"k8s": "x"}},
		`labels: "__name__" is set by the rules`:                       {ExtraLabels: map[string]string{"__name__": "x"}},
		`labels: "severity" is set by the rules`:                       {ExtraLabels: map[string]string{"severity": "x"}},
		`labels.team: "{{ .x }}" contains a template`:                  {ExtraLabels: map[string]string{"team": "{{ .x }}"}},
		`controllers: the name of a controller must not be empty`:      {Controllers: map[string]alerts.Controller{"": {}}},
		`controllers.a.labels: "handler" is set by the rules`:          {Controllers: map[string]alerts.Controller{"a": {Labels: map[string]string{"handler": "x"}}}},
		`alertmanager.groupWait: -1s must not be neg`:                  {Alertmanager: alerts.Alertmanager{GroupWait: -time.Second}},
		`alertmanager.groupBy: "a b" is not a valid label name`:        {Alertmanager: alerts.Alertmanager{GroupBy: []string{"a b"}}},
		`alertmanager.groupBy: "name" is not a valid label name, or i`: {Alertmanager: alerts.Alertmanager{GroupBy: []string{"name", "name"}}},
		`leaseNamespaces: "a.*" is not the name of a namespace`:        {LeaseNamespaces: []string{"a.*"}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := (alerts.Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

// Every alert has promtool tests that show it firing, silent and, in one and the same test, resolving. Those that take the
// rate of a counter are shown silent across a missing scrape and a reset of that counter too. promtool itself runs the
// tests from the Makefile.
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

// TestFailedScrapesAreTested: an alert that compares a gauge as it is loses it when a scrape fails.
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
			t.Errorf("%s: testdata/scrapes.test.yaml does not show that it goes on while a scrape fails", a.Name)
		}
	}
}

// comparesGauge reports whether an alert's expression begins with a selector that has no range.
func comparesGauge(a alerts.Alert) bool {
	for _, r := range rules(alerts.Config{}) {
		if r.Alert == a.Name {
			first, _, _ := strings.Cut(r.Expr, "\n")
			return !strings.Contains(first, "[") && !strings.HasPrefix(first, "(") && a.Objective.BurnRates == nil
		}
	}
	return false
}

var counter = regexp.MustCompile(`(?:rate|increase)\((\w+)`)

// counterOf returns the first counter that an alert takes the rate of, without the suffix of a histogram's part, or "".
func counterOf(a alerts.Alert) string {
	for _, r := range rules(alerts.Config{}) {
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

// values are some, as promtool writes them: 5, 5x10 or 5+2x10, the number after x being how many follow the first.
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
