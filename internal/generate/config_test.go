package generate_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/generate"
)

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
traces: {type: tempo, url: "http://tempo.example.com:3200"}
alertmanager:
  webhookURLs: {page: "http://127.0.0.1:9/page"}
  teams: {gc: {ticket: "http://127.0.0.1:9/gc"}}
  groupWait: 1s
  groupInterval: 2s
  repeatInterval: 1d
  kubeAPIDown: true
`)
	for path, want := range map[string][]string{
		"prometheus/rules.yaml":                            {`k8s_informer_sync_lag_seconds{env="prod"} > 12`, "for: 10s", "keep_firing_for: 1m30s", `workqueue_depth{env="prod", name="slow"}[20m]`, "k8s_informer_watch_disconnects_total{env=\"prod\"}[7m]", `handler="slow"`, `name="garbage-collector"`, "> 20000", "team: gc", "team: platform", "https://runbooks.example.com/InformerNotSynced.md"},
		"kubernetes/prometheusrule.yaml":                   {`k8s_informer_sync_lag_seconds{env="prod"} > 12`},
		"alertmanager/alertmanager.yaml":                   {"http://127.0.0.1:9/page", "http://127.0.0.1:9/gc", "receiver: gc-ticket", "- k8s\n", "group_wait: 1s", "group_interval: 2s", "repeat_interval: 1d", "KubeAPIDown"},
		"grafana/provisioning/datasources/prometheus.yaml": {"http://prometheus.example.com", "type: tempo", "url: http://tempo.example.com:3200"},
		"runbooks/InformerSyncLagHigh.md":                  {"**Act now", "by more than 12s for 10s"},
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
		t.Error("the disabled alert is generated")
	}
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for config, want := range map[string]string{
		"goals: {}":                                `unknown field "goals"`,
		"scrapeInterval: 1s":                       "scrapeInterval: 1s is not between 5s and 2m",
		"scrapeInterval: 5m":                       "scrapeInterval: 5m is not between 5s and 2m",
		"scrapeInterval: 60":                       `scrapeInterval: "60" is not a duration`,
		"{scrapeInterval: 1m, keepFiringFor: 30s}": "keepFiringFor: 30s is not longer than the scrape interval, 1m",
		"{scrapeInterval: 1m, objectives: {coverage_gap: {window: 90s}}}":    "does not fit the window of coverage_gap, 1m30s",
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
		"traces: {type: zipkin}":                                             `traces.type: "zipkin" is not one of jaeger, tempo`,
		"traces: {url: jaeger}":                                              `traces.url: "jaeger" is not an http or https URL`,
		"runbookURL: ftp://x":                                                `runbookURL: "ftp://x" is not an http or https URL`,
		"grafanaURL: nowhere":                                                `grafanaURL: "nowhere"`,
		"alertmanager: {groupWait: soon}":                                    `alertmanager.groupWait: "soon" is not a duration`,
		"alertmanager: {webhookURLs: {page: x}}":                             "alertmanager.webhookURLs.page",
		"controllers: {a: {objectives: {queue_depth: {for: x}}}}":            `controllers.a.objectives.queue_depth.for: "x" is not a duration`,
		"controllers: {a: {objectives: {sync_lag: {threshold: 1}}}}":         "controllers.a.objectives: sync_lag is not the objective of an alert about controllers",
		"controllers: {a: {objectives: {queue_wait_p99: {threshold: 1.5}}}}": "controllers.a.objectives: queue_wait_p99: threshold is 1.5, which is not a bucket",
		"labelNames: {job: name}":                                            `labelNames.job: "name" is the name of another label`,
		"labelNames: {lease: x}":                                             `labelNames: "lease" cannot be renamed, only cluster, instance, job, namespace, pod can`,
		"labelNames: {namespace: watch_namespace}":                           `labelNames.namespace: "watch_namespace" is the name of another label`,
		"labelNames: {pod: namespace}":                                       `labelNames.pod: "namespace" is the name of another label`,
		"selector: env":                                                      `selector: "env" is not a list of matchers`,
		"histograms: both":                                                   `histograms: "both" is not supported; use classic or native`,
		"severities: {critical: page}":                                       `severities: unknown key "critical"`,
		"severities: {ticket: page}":                                         `severities.ticket: "page" is the value of page`,
		"kubernetes: {namespace: a_b}":                                       `kubernetes.namespace: "a_b"`,
		"kubernetes: {podNamespaces: [\"*\"]}":                               `kubernetes.podNamespaces: "*"`,
		"kubernetes: {labels: {release: a b}}":                               `kubernetes.labels.release: "a b"`,
		"kubernetes: {labels: {grafana_dashboard: \"0\"}}":                   `kubernetes.labels: "grafana_dashboard" is set by the generator`,
		"kubernetes: {folderAnnotation: a b}":                                `kubernetes.folderAnnotation: "a b"`,
		"kubernetes: {instanceSelector: {a b: c}}":                           `kubernetes.instanceSelector: "a b"`,
		"kubernetes: {label: {}}":                                            `unknown field "label"`,
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
	f.Add("severities: {label: priority, page: critical}")
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
