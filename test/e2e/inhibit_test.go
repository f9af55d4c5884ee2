package e2e_test

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/alertmanager/alert"
	amconfig "github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/provider/mem"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v2"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// TestInhibitions runs Alertmanager's own code on the default configuration to find which alerts are inhibited by
// another. The recording rule of muted alerts, which dashboards read, comes to the same result.
func TestInhibitions(t *testing.T) {
	informer := model.LabelSet{"cluster": "eu", "job": "shop", "instance": "a", "name": "shop", "informer_type": "pods", "watch_namespace": "*"}
	exporters := model.LabelSet{"cluster": "eu", "job": "informer-exporter", "instance": "e", "name": "informer-exporter", "informer_type": "pods", "watch_namespace": "*"}
	queue := model.LabelSet{"cluster": "eu", "job": "shop", "instance": "a", "name": "orders"}
	lock := model.LabelSet{"cluster": "eu", "name": "shop", "lock": "shop-leader"}
	outage := model.LabelSet{"cluster": "eu", "severity": "page"}
	mutesTickets, mutesPages := model.LabelSet{"cluster": "eu", "severity": "info", "mutes": "ticket"}, model.LabelSet{"cluster": "eu", "severity": "info", "mutes": "page"}
	election := model.LabelSet{"cluster": "eu", "namespace": "a", "name": "plain", "lock": "main", "lease": "main"}
	lease := model.LabelSet{"cluster": "eu", "namespace": "a", "lease_namespace": "a", "lease": "main", "lock": "a/main"}
	noLeader := with(lock, "severity", "page")
	watchDown := with(informer, "severity", "ticket")
	cleanup := model.LabelSet{"cluster": "eu", "job": "shop", "name": "shop", "controller": "orders", "finalizer": "a.example.com/x"}
	controller := model.LabelSet{"cluster": "eu", "job": "shop", "instance": "a", "name": "shop", "controller": "orders"}
	held := model.LabelSet{"cluster": "eu", "informer_type": "pods", "namespace": "shop", "finalizer": "a.example.com/x"}
	var recorded []promtool.Test
	for _, c := range []struct {
		source string
		of     model.LabelSet
		target string
		in     model.LabelSet
		keeps  bool
	}{
		// An outage mutes what follows from it in its cluster, with separate rules for pages and tickets, and nothing else.
		{"KubernetesAPIUnreachable", outage, "ControllerLeaderMissing", noLeader, false},
		{"KubernetesAPIUnreachable", mutesPages, "ControllerLeaderMissing", noLeader, true},
		{"KubernetesAPIUnreachable", mutesTickets, "ControllerLeaderMissing", noLeader, false},
		{"KubernetesAPIUnreachable", outage, "InformerWatchDown", watchDown, false},
		{"KubernetesAPIUnreachable", mutesPages, "InformerWatchDown", watchDown, false},
		{"KubernetesAPIUnreachable", mutesTickets, "InformerWatchDown", watchDown, true},
		{"KubernetesAPIUnreachable", mutesTickets, "InformerWatchDown", with(informer, "severity", "info"), true},
		{"KubernetesAPIUnreachable", mutesTickets, "ClusterLeaseExpired", model.LabelSet{"cluster": "eu", "severity": "ticket", "lease_namespace": "a", "lease": "b", "lock": "a/b"}, true},
		{"KubernetesAPIUnreachable", mutesTickets, "InformerWatchDown", with(watchDown, "cluster", "us"), false},
		{"KubernetesAPIUnreachable", mutesPages, "ControllerLeaderMissing", with(noLeader, "cluster", "us"), false},
		{"KubernetesAPIUnreachable", mutesPages, "InformerCacheDiffers", with(informer, "severity", "page"), false},
		{"KubernetesAPIUnreachable", mutesPages, "InformerVersionRegression", with(informer, "severity", "page"), false},
		{"KubernetesAPIUnreachable", mutesPages, "KubernetesAPIUnreachable", outage, false},
		{"KubeAPIDown", model.LabelSet{"cluster": "eu"}, "KubernetesAPIUnreachable", outage, false}, // only with alertmanager.kubeAPIDown
		// One election, seen by its candidates and by its Lease.
		{"ControllerLeaderMissing", lock, "ClusterLeaseExpired", model.LabelSet{"cluster": "eu", "lease_namespace": "shop", "lease": "leader", "lock": "shop-leader"}, true},
		{"ControllerLeaderMissing", election, "ClusterLeaseExpired", lease, true},
		{"ControllerLeaderMissing", election, "ClusterLeaseExpired", with(with(lease, "namespace", "b"), "lease_namespace", "b"), false},
		{"ControllerLeaderMissing", without(election, "namespace"), "ClusterLeaseExpired", lease, false},
		// The chain: absent, not synced, watch, lag.
		{"InformerExporterAbsent", model.LabelSet{"cluster": "eu"}, "InformerNotSynced", exporters, true},
		{"InformerExporterAbsent", model.LabelSet{"cluster": "eu"}, "InformerSyncLagHigh", exporters, true},
		{"InformerExporterAbsent", model.LabelSet{"cluster": "eu"}, "InformerExporterKindDown", exporters, true},
		{"InformerNotSynced", informer, "InformerWatchDown", informer, true},
		{"InformerNotSynced", informer, "InformerSyncLagHigh", informer, true},
		{"InformerWatchDown", informer, "InformerSyncLagHigh", informer, true},
		{"InformerWatchDisconnects", informer, "InformerSyncLagHigh", informer, true},
		{"InformerWatchDown", informer, "InformerCoverageGap", without(informer, "instance"), true},
		// One ticket for a resource that is missing.
		{"InformerNotSynced", informer, "InformerListWatchErrors", without(without(informer, "instance"), "watch_namespace"), true},
		{"InformerWatchDown", informer, "InformerListWatchErrors", without(without(informer, "instance"), "watch_namespace"), true},
		{"InformerWatchDown", informer, "InformerListWatchErrors", with(without(without(informer, "instance"), "watch_namespace"), "informer_type", "nodes"), false},
		// A restored etcd, seen by a replica that kept running and by one that restarted.
		{"InformerVersionRegression", with(informer, "severity", "page"), "InformerStaleAfterRestart", with(informer, "instance", "b"), true},
		{"InformerVersionRegression", with(informer, "severity", "page"), "InformerStaleAfterRestart", with(informer, "informer_type", "nodes"), false},
		// The others: of queues, locks and objects.
		{"ControllerQueueBlocked", queue, "ControllerQueueDeep", queue, true},
		{"ControllerQueueBlocked", queue, "ControllerWorkerBusy", queue, true},
		{"ControllerQueueSlow", without(queue, "instance"), "ControllerQueueDeep", queue, true},
		{"ControllerCleanupOverdue", with(cleanup, "instance", "a"), "ControllerCleanupSlow", cleanup, true},
		{"ControllerCleanupOverdue", with(cleanup, "instance", "a"), "ControllerCleanupSlow", with(cleanup, "finalizer", "b.example.com/y"), false},
		{"ControllerReconcileErrors", without(controller, "instance"), "ControllerItemFailing", controller, true},
		{"ControllerReconcileErrors", without(controller, "instance"), "ControllerItemFailing", with(controller, "controller", "invoices"), false},
		{"InformerNotSynced", informer, "ControllerWorkersMissing", with(without(without(informer, "informer_type"), "watch_namespace"), "controller", "orders"), true},
		{"InformerTransformDrops", informer, "InformerEventsLost", with(informer, "reason", "list"), true},
		{"InformerTransformDrops", informer, "InformerEventsLost", with(informer, "reason", "index"), false},
		{"ControllerLeaderMissing", lock, "ControllerLeaderChanges", lock, true},
		{"ControllerLeaderChanges", lock, "ControllerLeaderSlowRenewals", lock, true},
		{"ClusterObjectHeld", held, "ClusterNamespaceStuck", model.LabelSet{"cluster": "eu", "namespace": "shop"}, true},

		// Not in the other direction, nor in another cluster, process, informer, queue or lock.
		{"InformerSyncLagHigh", informer, "InformerWatchDown", informer, false},
		{"InformerWatchDown", informer, "InformerNotSynced", informer, false},
		{"ControllerQueueDeep", queue, "ControllerQueueBlocked", queue, false},
		{"InformerExporterAbsent", model.LabelSet{"cluster": "us"}, "InformerNotSynced", exporters, false},
		{"InformerExporterAbsent", model.LabelSet{"cluster": "eu"}, "InformerNotSynced", informer, false}, // of a program with the library
		{"InformerWatchDown", informer, "InformerSyncLagHigh", with(informer, "cluster", "us"), false},
		{"InformerWatchDown", informer, "InformerSyncLagHigh", with(informer, "instance", "b"), false},
		{"InformerWatchDown", informer, "InformerSyncLagHigh", with(informer, "informer_type", "nodes"), false},
		{"ControllerQueueBlocked", queue, "ControllerQueueDeep", with(queue, "name", "mails"), false},
		{"ControllerLeaderMissing", lock, "ControllerLeaderChanges", with(lock, "lock", "other"), false},
		{"ClusterObjectHeld", held, "ClusterNamespaceStuck", model.LabelSet{"cluster": "eu", "namespace": "other"}, false},
		// Independent causes are not inhibited.
		{"InformerWatchDown", informer, "InformerHandlerSlow", informer, false},
		{"ControllerQueueBlocked", queue, "ControllerReconcileErrors", with(queue, "controller", "orders"), false},
	} {
		name := fmt.Sprintf("%s,%s,%v", c.source, c.target, c.keeps)
		source, target := with(c.of, "alertname", c.source), with(c.in, "alertname", c.target)
		t.Run(name, func(t *testing.T) {
			if got := inhibitor(t, source).Mutes(t.Context(), target); got != c.keeps {
				t.Errorf("%s%v inhibits %s%v: %v, want %v", c.source, c.of, c.target, c.in, got, c.keeps)
			}
		})
		recorded = append(recorded, mutedTest(name, source, target, c.keeps))
	}
	if out, ok := promtool.Run(t, "1m", recorded, []alerts.Group{{Name: "muted", Rules: []alerts.Rule{mutedRule(t)}}}); !ok {
		t.Error(out)
	}
}

// mutedTest expects the recording rule of muted alerts to have the second of two alerts if it is muted.
func mutedTest(name string, source, target model.LabelSet, muted bool) promtool.Test {
	series := func(set model.LabelSet) promtool.Series {
		return promtool.Series{Series: "ALERTS" + with(set, "alertstate", "firing").String(), Values: "1x2"}
	}
	q := promtool.Query{Expr: fmt.Sprintf("%s{alertname=%q}", mutedRecord, string(target["alertname"])), At: "1m"}
	if muted {
		q.Samples = []promtool.Sample{{Labels: mutedRecord + with(target, "alertstate", "firing").String(), Value: 1}}
	}
	return promtool.Test{Name: name, Interval: "1m", Series: []promtool.Series{series(source), series(target)}, Queries: []promtool.Query{q}}
}

const mutedRecord = "alert:informer_exporter_alerts:muted"

func mutedRule(t *testing.T) alerts.Rule {
	t.Helper()
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Record == mutedRecord {
				return r
			}
		}
	}
	t.Fatal("no rule records muted alerts")
	return alerts.Rule{}
}

// For burn rates, which are one alert, a page inhibits the ticket and not the reverse.
func TestBurnRatesInhibit(t *testing.T) {
	burn := model.LabelSet{"alertname": "InformerEventLagBurn", "cluster": "eu", "job": "shop", "name": "shop", "informer_type": "pods", "watch_namespace": "*"}
	page, ticket := with(burn, "severity", "page"), with(burn, "severity", "ticket")
	if !inhibitor(t, page).Mutes(t.Context(), ticket) {
		t.Error("the ticket is sent in addition to the page")
	}
	if inhibitor(t, ticket).Mutes(t.Context(), page) {
		t.Error("the ticket inhibits the page")
	}
}

func with(labels model.LabelSet, name, value string) model.LabelSet {
	more := maps.Clone(labels)
	more[model.LabelName(name)] = model.LabelValue(value)
	return more
}

func without(labels model.LabelSet, name string) model.LabelSet {
	fewer := maps.Clone(labels)
	delete(fewer, model.LabelName(name))
	return fewer
}

// inhibitor returns Alertmanager's inhibitor, with the generated configuration, while alerts fire.
func inhibitor(t *testing.T, firing ...model.LabelSet) *inhibit.Inhibitor {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "deploy", "alertmanager", "alertmanager.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rules []amconfig.InhibitRule `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil || len(file.Rules) == 0 {
		t.Fatalf("%d inhibitions, %v", len(file.Rules), err)
	}
	log := slog.New(slog.DiscardHandler)
	store, err := mem.NewAlerts(t.Context(), time.Hour, 0, nil, log, eventrecorder.NopRecorder(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	now := time.Now()
	for _, set := range firing {
		if err := store.Put(t.Context(), &alert.Alert{
			Alert: model.Alert{Labels: set, StartsAt: now, EndsAt: now.Add(time.Hour)}, UpdatedAt: now,
		}); err != nil {
			t.Fatal(err)
		}
	}
	i := inhibit.NewInhibitor(store, file.Rules, log, eventrecorder.NopRecorder())
	ended := make(chan struct{})
	go func() { defer close(ended); i.Run() }()
	t.Cleanup(func() { i.Stop(); <-ended })
	i.WaitForLoading()
	return i
}
