package alerts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

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
	placeholder = regexp.MustCompile(`\$(threshold|objective|quantile|window|range|count|bound|for|long|budget|factor)\b|@(cluster|namespace|pod|job|instance|severity|page|ticket|info)\b`)
	namedAlert  = regexp.MustCompile(`\b(Informer|Controller|Cluster|Kubernetes)[A-Z]\w+`)
	aggregation = regexp.MustCompile(`^\s*\w+ by \(([^)]*)\)`)
	levelMetric = regexp.MustCompile(`^[a-z_]+:[a-z0-9_]+:[a-z0-9_]+$`)
)

// replacement is a label_replace's.
var replacement = regexp.MustCompile(`"\$(1|\{1\}[a-z]+)"`)

func TestRulesAreComplete(t *testing.T) {
	c := alerts.Config{RunbookBase: "https://runbooks.example.com/", Dashboards: alerts.Dashboards{
		Overview: "https://grafana.example.com/d/s", Informers: "https://grafana.example.com/d/i", Controllers: "https://grafana.example.com/d/c",
		LeaderElection: "https://grafana.example.com/d/l", APIClient: "https://grafana.example.com/d/a",
		Objects: "https://grafana.example.com/d/o", Clients: "https://grafana.example.com/d/n", Exporter: "https://grafana.example.com/d/e",
	}}
	boards := map[string]bool{}
	var seen []string
	for _, r := range rules(c) {
		if (r.Record == "") == (r.Alert == "") {
			t.Errorf("%+v must be either a recording or an alerting rule", r)
		}
		if strings.ContainsAny(replacement.ReplaceAllString(r.Expr, ""), "$@") || strings.Contains(r.Expr, "%!") {
			t.Errorf("%s%s: a placeholder was not replaced: %s", r.Alert, r.Record, r.Expr)
		}
		key := r.Record + r.Alert + r.Labels["severity"] + r.Labels["window"] + r.Labels["mutes"]
		if slices.Contains(seen, key) {
			t.Errorf("%s is repeated", key)
		}
		seen = append(seen, key)
		if r.Record != "" {
			if !levelMetric.MatchString(r.Record) {
				t.Errorf("%s is not named level:metric:operations", r.Record)
			}
			if by := aggregation.FindStringSubmatch(r.Expr); by != nil && strings.Contains(by[1], "instance") != strings.HasPrefix(r.Record, "instance") {
				t.Errorf("the level of %s does not match its series: %s", r.Record, by[1])
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
	if len(boards) != 8 {
		t.Errorf("alerts lead to the dashboards %v", boards)
	}
}

// Links must be absolute, because they are opened from a pager.
func TestNoLinksWithoutAddresses(t *testing.T) {
	for _, r := range rules(alerts.Config{}) {
		for _, name := range []string{"runbook_url", "dashboard_url"} {
			if link, ok := r.Annotations[name]; ok {
				t.Errorf("%s: %s is %q", r.Alert, name, link)
			}
		}
	}
}

// TestPages: at most five alerts page by default. Another one needs a very good Reason.
func TestPages(t *testing.T) {
	var got []string
	for _, r := range rules(alerts.Config{}) {
		if r.Labels[alerts.SeverityLabel] == string(catalog.Page) && !slices.Contains(got, r.Alert) {
			got = append(got, r.Alert)
		}
	}
	slices.Sort(got)
	want := []string{"ControllerLeaderMissing", "InformerCacheDiffers", "InformerEventLagBurn", "InformerVersionRegression", "KubernetesAPIUnreachable"}
	if !slices.Equal(got, want) {
		t.Errorf("by default these page: %q, want %q", got, want)
	}
}

// Each Reason is a clause that fits into the table of alerts, and names only existing alerts.
func TestReasons(t *testing.T) {
	for _, a := range alerts.All() {
		if n := len(a.Reason); n < 20 || n > 95 || strings.HasSuffix(a.Reason, ".") || strings.ContainsAny(a.Reason, "|\n") {
			t.Errorf("%s: the reason %q has %d characters, or does not fit into a cell", a.Name, a.Reason, n)
		}
		for _, word := range namedAlert.FindAllString(a.Reason, -1) {
			if _, ok := alerts.ByName(word); !ok {
				t.Errorf("%s: the reason names %s, which is not an alert", a.Name, word)
			}
		}
	}
}

func TestBurnRates(t *testing.T) {
	type pair struct{ window, severity, wait string }
	var got []pair
	for _, r := range rules(alerts.Config{}) {
		if r.Alert == "InformerEventLagBurn" {
			got = append(got, pair{r.Labels["window"], r.Labels["severity"], r.For})
			if w := r.Labels["window"]; !strings.Contains(r.Expr, "rate"+w+" >") && !strings.Contains(r.Expr, "rate"+w+"[10m]) >") || !strings.Contains(r.Annotations["description"], "over the last "+w) {
				t.Errorf("window %s: %s\n%s", w, r.Expr, r.Annotations["description"])
			}
		}
	}
	want := []pair{{"1h", "page", "2m"}, {"6h", "page", "15m"}, {"1d", "ticket", "1h"}, {"3d", "ticket", "3h"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The alerts of a group are in the order of All, after its recording rules. Alerts that compare a gauge directly keep firing
// while a scrape fails, unless they set their own keep_firing_for.
func TestOrderAndKeepFiring(t *testing.T) {
	order := map[string]int{}
	for i, a := range alerts.All() {
		order[a.Name] = i
	}
	for _, g := range alerts.Rules(alerts.Config{}) {
		last := -1
		for _, r := range g.Rules {
			if r.Alert == "" {
				if last >= 0 {
					t.Errorf("%s: %s is recorded after the alerts", g.Name, r.Record)
				}
				continue
			}
			if order[r.Alert] < last {
				t.Errorf("%s: %s is not in the order of All", g.Name, r.Alert)
			}
			last = order[r.Alert]
			if want := map[string]string{"InformerExporterAbsent": "2m", "InformerHandlerSlow": "10m"}[r.Alert]; want != "" && r.KeepFiringFor != want {
				t.Errorf("%s keeps firing for %q, want %q", r.Alert, r.KeepFiringFor, want)
			}
		}
	}
}

// TestHandlersOfTheirOwn: each handler has exactly one rule, with thresholds for zero, one and two individual handlers.
func TestHandlersOfTheirOwn(t *testing.T) {
	for _, tt := range []struct {
		own  map[string]float64
		want []string
	}{
		{nil, []string{`[5m]))) > 0.12`}},
		{map[string]float64{"c": 1}, []string{`{handler!~"c"}[5m]))) > 0.12`, `{handler="c"}[5m]))) > 1`}},
		{map[string]float64{"a.b": .5, "c": 1}, []string{`{handler!~"a\\.b|c"}[5m]))) > 0.12`, `{handler="a.b"}[5m]))) > 0.5`, `{handler="c"}[5m]))) > 1`}},
	} {
		c := alerts.Config{HandlerThresholds: tt.own}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rules(c) {
			if r.Alert == "InformerHandlerSlow" {
				first, _, _ := strings.Cut(r.Expr, "\n")
				got = append(got, first[strings.Index(first, "_bucket")+7:])
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
