package generate_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/generate"
)

const deploy = "../../deploy"

func files(t *testing.T, config string) map[string][]byte {
	t.Helper()
	c, err := generate.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	f, err := generate.Files(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is committed is what is generated, and nothing in its folders was left by an earlier run.
func TestDeployIsUpToDate(t *testing.T) {
	want := files(t, "")
	for path, content := range want {
		got, err := os.ReadFile(filepath.Join(deploy, path))
		if err != nil {
			t.Errorf("%v; run make generate", err)
		} else if !bytes.Equal(got, content) {
			t.Errorf("deploy/%s is not what the generator writes; run make generate", path)
		}
	}
	for _, dir := range []string{"grafana", "prometheus", "alertmanager", "kubernetes", "runbooks"} {
		err := filepath.WalkDir(filepath.Join(deploy, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(deploy, path)
			if _, ok := want[filepath.ToSlash(rel)]; !ok {
				t.Errorf("deploy/%s is not generated", rel)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	first, second := files(t, ""), files(t, "")
	for path := range first {
		if !bytes.Equal(first[path], second[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}

// One of the inhibitions is about the exporter's own informers, by the names that they carry.
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

func TestManifests(t *testing.T) {
	f := files(t, "")
	read := func(path string) (o struct {
		APIVersion string
		Kind       string
		Spec       struct {
			Groups              []alerts.Group
			Endpoints           []struct{ HonorLabels bool }
			PodMetricsEndpoints []struct{ HonorLabels bool }
		}
	}) {
		if err := yaml.Unmarshal(f[path], &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return o
	}
	if e := read("kubernetes/servicemonitor.yaml").Spec.Endpoints; len(e) != 1 || !e[0].HonorLabels {
		t.Errorf("the ServiceMonitor of the exporter does not honor labels: %+v", e)
	}
	if e := read("kubernetes/podmonitor.yaml").Spec.PodMetricsEndpoints; len(e) != 1 || e[0].HonorLabels {
		t.Errorf("the PodMonitor honors labels: %+v", e)
	}
	rule, err := yaml.Marshal(read("kubernetes/prometheusrule.yaml").Spec)
	if err != nil || !strings.Contains(string(rule), "InformerNotSynced") {
		t.Errorf("the PrometheusRule lacks rules: %v", err)
	}
}

func TestConfigIsUsed(t *testing.T) {
	f := files(t, `
objectives:
  sync_lag: {threshold: 12, for: 10s, severity: page}
  watch_disconnects: {window: 7m}
  queue_depth: {for: 3m}
keepFiringFor: 90s
handlers: {slow: 1}
disabled: [InformerExporterAbsent]
controllers:
  garbage-collector: {objectives: {queue_depth: {threshold: 20000}}, labels: {team: gc}}
  slow: {objectives: {queue_depth: {window: 20m}}}
labels: {team: platform}
labelNames: {cluster: k8s}
selector: env="prod"
runbookURL: https://runbooks.example.com
prometheusURL: http://prometheus.example.com
alertmanager:
  webhookURLs: {page: "http://127.0.0.1:9/page"}
  teams: {gc: {ticket: "http://127.0.0.1:9/gc"}}
  groupWait: 1s
  groupInterval: 2s
  repeatInterval: 1d
`)
	for path, want := range map[string][]string{
		"prometheus/rules.yaml":                            {`k8s_informer_sync_lag_seconds{env="prod"} > 12`, "for: 10s", "keep_firing_for: 1m30s", `workqueue_depth{env="prod", name="slow"}[20m]`, "k8s_informer_watch_disconnects_total{env=\"prod\"}[7m]", `handler="slow"`, `name="garbage-collector"`, "> 20000", "team: gc", "team: platform", "https://runbooks.example.com/InformerNotSynced.md"},
		"kubernetes/prometheusrule.yaml":                   {`k8s_informer_sync_lag_seconds{env="prod"} > 12`},
		"alertmanager/alertmanager.yaml":                   {"http://127.0.0.1:9/page", "http://127.0.0.1:9/gc", "receiver: gc-ticket", "- k8s\n", "group_wait: 1s", "group_interval: 2s", "repeat_interval: 1d"},
		"grafana/provisioning/datasources/prometheus.yaml": {"http://prometheus.example.com"},
		"runbooks/InformerSyncLagHigh.md":                  {"at most 12s", "| page |", "by more than 12s for 10s"},
		"metrics.md":                                       {"| `sync_lag` | at most 12s |"},
		"grafana/dashboards/informers-overview.json":       {"at most 12s", "https://runbooks.example.com", `by (k8s, name`, `env=\"prod\"`},
	} {
		for _, text := range want {
			if !bytes.Contains(f[path], []byte(text)) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	if _, ok := f["runbooks/InformerExporterAbsent.md"]; ok || bytes.Contains(f["prometheus/rules.yaml"], []byte("alert: InformerExporterAbsent")) {
		t.Error("the alert that is disabled is there")
	}
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for config, want := range map[string]string{
		"goals: {}":                                                          `unknown field "goals"`,
		"alertmanager: {webhookURL: {}}":                                     `unknown field "webhookURL"`,
		"objectives: {sync_lag: {treshold: 1}}":                              `unknown field "treshold"`,
		"objectives: {sync_lag: {threshold: five}":                           "yaml",
		"objectives: {sync_lag: {threshold: 5s}}":                            "objectives",
		"objectives: {sync_lag: {for: 5}}":                                   "objectives",
		"objectives: {sync_lag: {for: 5 min}}":                               `objectives.sync_lag.for: "5 min" is not a duration; write 30s`,
		"objectives: {coverage_gap: {window: x}}":                            `objectives.coverage_gap.window: "x" is not a duration`,
		"objectives: {sync_lag: {window: 1m}}":                               "objectives: sync_lag: window cannot be changed",
		"objectives: {nope: {threshold: 1}}":                                 "objectives: nope: unknown objective; use one of not_synced",
		"objectives: {event_lag: {threshold: 7}}":                            "event_lag: threshold is 7, which is not a bucket",
		"disabled: [Nope]":                                                   `disabled: unknown alert "Nope"`,
		"runbookURL: ftp://x":                                                `runbookURL: "ftp://x" is not an http or https URL`,
		"grafanaURL: nowhere":                                                `grafanaURL: "nowhere"`,
		"alertmanager: {groupWait: soon}":                                    `alertmanager.groupWait: "soon" is not a duration`,
		"alertmanager: {webhookURLs: {page: x}}":                             "alertmanager.webhookURLs.page",
		"controllers: {a: {objectives: {queue_depth: {for: x}}}}":            `controllers.a.objectives.queue_depth.for: "x" is not a duration`,
		"controllers: {a: {objectives: {sync_lag: {threshold: 1}}}}":         "controllers.a.objectives: sync_lag is not the objective of an alert about controllers",
		"controllers: {a: {objectives: {queue_wait_p99: {threshold: 1.5}}}}": "controllers.a.objectives: queue_wait_p99: threshold is 1.5, which is not a bucket",
		"labelNames: {job: name}":                                            `labelNames.job: "name" is the name of another label`,
		"labelNames: {namespace: exported_namespace}":                        `labelNames: "namespace" cannot be renamed, only cluster, instance, job can`,
		"selector: env":                                                      `selector: "env" is not a list of matchers`,
		"groups: [x]":                                                        `groups: unknown group "x"`,
		"alertmanager: {teams: {a: {pager: http://x}}}":                      `alertmanager.teams.a: "pager" is not a severity`,
		"handlers: {h: 3}":                                                   `handlers: the threshold 3 of "h"`,
		"- a":                                                                "line 1: cannot unmarshal !!seq into fields",
		"disabled: [A]\ndisabled: [B]":                                       "disabled",
	} {
		_, err := generate.ParseConfig([]byte(config))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\nerror %v\nwant one with %q", config, err, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("objectives: {sync_lag: {threshold: 12, for: 10s}}")
	f.Add(`{labelNames: {cluster: k8s}, selector: 'a="b"', groups: [upstream], labels: {team: x}}`)
	f.Add("controllers: {a: {objectives: {queue_depth: {threshold: 1}}, labels: {team: b}}}")
	f.Add("alertmanager: {groupBy: [a], webhookURLs: {page: http://x}}")
	f.Fuzz(func(t *testing.T, config string) {
		c, err := generate.ParseConfig([]byte(config))
		if err != nil {
			return
		}
		if _, err := generate.Files(c); err != nil {
			t.Errorf("%q was accepted and then failed: %v", config, err)
		}
	})
}

func TestWriteRemovesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(path string) string { return filepath.Join(dir, path) }
	write := func(f map[string][]byte) []string {
		t.Helper()
		left, err := generate.Write(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	write(map[string][]byte{"a/keep": []byte("1"), "a/stale": []byte("2"), "a/edited": []byte("3")})
	for path, content := range map[string]string{"a/edited": "mine", "a/foreign": "4"} {
		if err := os.WriteFile(at(path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if left := write(map[string][]byte{"a/keep": []byte("5")}); !slices.Equal(left, []string{"a/edited"}) {
		t.Errorf("left %v, want a/edited", left)
	}
	got := map[string]string{}
	for _, path := range []string{"a/keep", "a/stale", "a/edited", "a/foreign"} {
		if content, err := os.ReadFile(at(path)); err == nil {
			got[path] = string(content)
		}
	}
	if want := map[string]string{"a/keep": "5", "a/edited": "mine", "a/foreign": "4"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	if _, err := generate.Write("", nil); err == nil {
		t.Error("no folder was accepted")
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	line := strings.Repeat("0", 64) + "  ../" + filepath.Base(filepath.Dir(outside)) + "/outside\n"
	if err := os.WriteFile(filepath.Join(dir, generate.ManifestName), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(dir, nil); err == nil || !strings.Contains(err.Error(), "delete the file") {
		t.Errorf("a manifest that leads outside: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(filepath.Join(dir, "file"), map[string][]byte{"a": nil}); err == nil {
		t.Error("a file was accepted as the folder")
	}
}
