package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// faultPanels show events that do not occur in a healthy cluster, or are minutes apart, so that they may have no series. fillsPanels
// verifies that they have data during the listed fault.
var faultPanels = map[string]string{
	"Backoff p99":             "failing-reconciles",
	"Dropped items by reason": "failing-reconciles",
	"Rollback duration p99":   "hanging-cleanup", "Active alerts": "etcd-restore", "Programs with firing alerts": "etcd-restore", "Pages and tickets by cluster": "etcd-restore", "Faults": "etcd-restore", "Watch interruptions": "apiserver-kill", "List/watch errors": "apiserver-kill",
	"Watches in the selected time": "etcd-compact", "Lists in the selected time": "etcd-compact",
}

// bornPanels show events that only a program with a fault of its own loses. TestBornWithTheFault fills them.
var bornPanels = []string{"Lost events by reason"}

// serverPanels show metrics of kube-apiserver that it creates with the first event.
var serverPanels = []string{"Watches terminated in 15 minutes", "Consistency checks by status", "Requests rejected by flow schema"}

// tracePanels show metrics of traced programs. TestChain in test/demo, which traces its programs, finds the metrics; the
// programs of this chain are not traced.
var tracePanels = []string{"Dropped trace links by reason", "Trace spans by result"}

// newerPanels show metrics of programs with newer or other versions than those here, of kube-state-metrics, and of events that a healthy
// cluster lacks. testdata/numbers of the dashboards has their numbers.
var newerPanels = []string{
	"Dispatch of watch events p99", "Consistent lists served by etcd", "Waits for the watch cache p99", "Age of caches", "Items between watch and cache",
	"Syncs skipped because of a stale cache", "Reads that wait for own writes, by result", "Reconciles that timed out", "Objects that kube-state-metrics has or lacks",
}

// largePanels show metrics of responses above 128 KiB, which the API server compresses. The lists of the demo are smaller;
// TestBytesOfLists in collectors/apiclient finds the metric.
var largePanels = []string{"Compressed size of lists and watches"}

// TestEveryPanelHasData runs the query of each panel on a real Prometheus with a healthy cluster.
func TestEveryPanelHasData(t *testing.T) {
	c := theChain(t)
	for _, d := range boards(t, dashboards.Config{}) {
		if d.UID == dashboards.ClientsUID { // audit serve is not part of the chain
			continue
		}
		await.Within(t, patience, d.Title, func(ctx context.Context) error {
			if err := streamList(ctx, c); err != nil {
				return err
			}
			return errorOf(emptyQueries(ctx, c, d.Queries, func(q query, s []stack.Sample) bool {
				_, mayLack := faultPanels[q.Panel]
				return slices.ContainsFunc(s, isNumber) || mayLack || slices.Contains(slices.Concat(serverPanels, tracePanels, newerPanels, largePanels, bornPanels), q.Panel)
			}))
		})
		for _, v := range variablesOf(t, d) {
			await.Within(t, patience, "variable "+v.label, func(ctx context.Context) error {
				return hasValues(ctx, c, v)
			})
		}
		t.Logf("%s: %d queries", d.Title, len(d.Queries))
	}
}

// streamList makes a streaming list, as every informer does when it starts.
func streamList(ctx context.Context, c *chain.Chain) error {
	w, err := metadata.NewForConfigOrDie(c.ControlPlane.Config()).Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Watch(ctx, metav1.ListOptions{
		SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Bookmark {
			return nil
		}
	}
	return errors.New("the API server ended a streaming list before its bookmark")
}

// TestFaultPanelsHaveFaults verifies that each is a panel, filled by a fault that demo_faults_test.go injects.
func TestFaultPanelsHaveFaults(t *testing.T) {
	var panels []string
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			panels = append(panels, q.Panel)
		}
	}
	for panel, fault := range faultPanels {
		if !slices.Contains(panels, panel) {
			t.Errorf("there is no panel %q", panel)
		}
		if _, made := told[fault]; !made {
			t.Errorf("no test injects the fault %q, which fills %q", fault, panel)
		}
	}
}

func isNumber(s stack.Sample) bool { return !math.IsNaN(s.Value) }

// emptyQueries returns the queries without sufficient results.
func emptyQueries(ctx context.Context, c *chain.Chain, queries []query, good func(query, []stack.Sample) bool) (empty []string, err error) {
	for _, q := range queries {
		samples, err := c.Prometheus.Query(ctx, q.Plain())
		if err != nil {
			return nil, fmt.Errorf("panel %q: %w", q.Panel, err)
		}
		if !good(q, samples) {
			empty = append(empty, fmt.Sprintf("panel %q: %d series and no number: %s", q.Panel, len(samples), q.Plain()))
		}
	}
	return empty, nil
}

func errorOf(empty []string, err error) error {
	if err == nil && len(empty) > 0 {
		err = fmt.Errorf("%d queries without data:\n%s", len(empty), strings.Join(empty, "\n"))
	}
	return err
}

// hasValues fails if a variable has no values.
func hasValues(ctx context.Context, c *chain.Chain, v dashboardVariable) error {
	samples, err := c.Prometheus.Query(ctx, fmt.Sprintf("group by (%s) (%s)", v.label, v.selector))
	if err != nil {
		return err
	}
	for _, s := range samples {
		if s.Labels[v.label] != "" {
			return nil
		}
	}
	return fmt.Errorf("no value among %v", samples)
}

// TestEmptyPanelsAreSeen renames the metrics of each query, after which every query must be found empty. This excludes
// queries that always return something.
func TestEmptyPanelsAreSeen(t *testing.T) {
	c := theChain(t)
	renamed := strings.NewReplacer("k8s_informer_", "k8s_renamed_", "informer_exporter_", "renamed_exporter_",
		"informer_queued_", "renamed_queued_", "informer_processing_", "renamed_processing_", "informer_store_", "renamed_store_",
		"controller_", "renamed_controller_", "k8s_client_", "renamed_client_", "rest_client_", "renamed_rest_", "apiserver_", "renamed_server_", "workqueue_", "renamed_workqueue_",
		"leader_election_", "renamed_election_", "k8s_lease_", "renamed_lease_", "k8s_object_", "renamed_object_", "ALERTS", "RENAMED")
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			q.Expr = renamed.Replace(q.Expr)
			empty, err := emptyQueries(t.Context(), c, []query{q}, func(_ query, s []stack.Sample) bool { return len(s) > 0 })
			if err != nil || len(empty) != 1 {
				t.Errorf("panel %q is not reported as empty: %v\n%s", q.Panel, err, q.Expr)
			}
		}
	}
	if err := hasValues(t.Context(), c, dashboardVariable{selector: "k8s_renamed_synced", label: "name"}); err == nil {
		t.Error("a variable without values is not reported")
	}
}
