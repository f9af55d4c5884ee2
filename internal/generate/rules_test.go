package generate_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// One of the inhibitions matches only the exporter's own informers, by the label "name".
func TestInhibitionNamesTheExporter(t *testing.T) {
	matcher := regexp.MustCompile(`- name=~"(.+)"`).FindSubmatch(files(t, "")["alertmanager/alertmanager.yaml"])
	if matcher == nil {
		t.Fatal("no inhibition is about a name")
	}
	names := regexp.MustCompile("^(?:" + string(matcher[1]) + ")$")
	for name, own := range map[string]bool{
		buildinfo.Name: true, sharding.Shard{Ordinal: 12, Total: 20}.Name(): true, "my-controller": false, buildinfo.Name + "-proxy": false,
	} {
		if names.MatchString(name) != own {
			t.Errorf("%s matches %s: %t, want %t", names, name, !own, own)
		}
	}
}

// Mimir and Thanos accept the rule file. mimirtool knows the fields of Prometheus and, besides groups, a
// namespace, which defaults to the name of the file. Thanos Ruler knows partial_response_strategy of a group. By default, Mimir
// rejects groups of more than twenty rules and tenants with more than seventy groups.
func TestRulesFitMimirAndThanos(t *testing.T) {
	var file struct {
		Groups []struct {
			Name     string        `json:"name"`
			Interval string        `json:"interval"`
			Rules    []alerts.Rule `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(files(t, "watchdog: true")["prometheus/rules.yaml"], &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		if n := len(g.Rules); n == 0 || n > 20 {
			t.Errorf("group %s has %d rules", g.Name, n)
		}
	}
	if n := len(file.Groups); n == 0 || n > 70 {
		t.Errorf("%d groups", n)
	}
}

// Monitors, rules, runbooks and dashboards use the scrape interval. Without it, dashboards leave the step to the data source.
func TestScrapeInterval(t *testing.T) {
	for config, want := range map[string]map[string][]string{
		"": {
			"kubernetes/servicemonitor.yaml": {"interval: 15s"}, "kubernetes/podmonitor.yaml": {"interval: 15s"},
			"grafana/provisioning/datasources/prometheus.yaml": {"timeInterval: 15s"},
		},
		"scrapeInterval: 1m": {
			"kubernetes/servicemonitor.yaml": {"interval: 1m"}, "kubernetes/podmonitor.yaml": {"interval: 1m"},
			"grafana/provisioning/datasources/prometheus.yaml": {"timeInterval: 1m"},
			"grafana/dashboards/informers-detail.json":         {`"interval": "1m"`},
			"prometheus/rules.yaml":                            {"expr: k8s_informer_sync_lag_seconds > 5\n    for: 2m\n", "_count[6m])"},
			"runbooks/InformerSyncLagHigh.md":                  {"by more than 5s for 2m"},
		},
		"scrapeInterval: 2m\nobjectives: {sync_lag: {for: 1m}}": {
			"prometheus/rules.yaml":                      {"expr: k8s_informer_sync_lag_seconds > 5\n    for: 1m\n    keep_firing_for: 4m\n", "k8s_informer_watch_disconnects_total[8m]"},
			"runbooks/ControllerLeaderChanges.md":        {"[8m]"},
			"kubernetes/prometheusrule.yaml":             {"slow_ratio_rate8m"},
			"grafana/dashboards/informers-overview.json": {`"interval": "2m"`},
		},
	} {
		f := files(t, config)
		for path, texts := range want {
			for _, text := range texts {
				if !bytes.Contains(f[path], []byte(text)) {
					t.Errorf("%q: %s lacks %q", config, path, text)
				}
			}
		}
		for path, content := range f {
			if config == "" && strings.HasPrefix(path, "grafana/dashboards/") && bytes.Contains(content, []byte(`"interval": "`)) {
				t.Errorf("%s has a step of its own", path)
			}
		}
	}
}

// Everything that reads or names a severity follows the names in the configuration.
func TestSeverityNames(t *testing.T) {
	f := files(t, "severities: {label: priority, page: critical, ticket: warning, info: notice}")
	severity := regexp.MustCompile(`\bseverity *(=|!|,|\)|:)|"severity"|priority: (page|ticket|info)\b|priority=~?\\?"[^"]*(page|ticket|info)`)
	for path, content := range f {
		if strings.HasSuffix(path, ".md") {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if severity.MatchString(line) {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
	for path, want := range map[string]string{
		"metrics.md":                                 "| [InformerEventLagBurn](runbooks/InformerEventLagBurn.md) | critical, warning: ",
		"prometheus/rules.yaml":                      "priority: critical",
		"kubernetes/prometheusrule.yaml":             "priority: critical",
		"alertmanager/alertmanager.yaml":             `priority="critical"`,
		"grafana/dashboards/informers-overview.json": `priority=\"critical\"`,
	} {
		if !bytes.Contains(f[path], []byte(want)) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}
