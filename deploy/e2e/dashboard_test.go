package e2e_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/deploy/local/chain"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
)

// rarePanels are quantiles and means of what happens once in minutes or at a start. The series are always there, but what
// they amount to is no number while nothing of the kind happens.
var rarePanels = []string{"Coverage gap, p99", "Duration of watches, median", "Sync duration, p99", "List duration", "Objects in lists"}

// faultPanels are about what does not happen on a healthy cluster, and may have no series before it does: the end of a
// process, an answer with the status 429, retries and what has to be undone.
var faultPanels = []string{"Steps of shutdowns", "Turned away by the API server", "Back-off", "Rollback duration, p99"}

// TestEveryPanelHasData asks the real Prometheus, on a healthy cluster, what each panel asks for.
func TestEveryPanelHasData(t *testing.T) {
	c := theChain(t)
	for _, d := range allDashboards(t) {
		await(t, d.Title, patience, func(ctx context.Context) error {
			return errorOf(emptyQueries(ctx, c, d.Queries, func(q dashboards.Query, s []stack.Sample) bool {
				return slices.ContainsFunc(s, isNumber) || len(s) > 0 && slices.Contains(rarePanels, q.Panel) || slices.Contains(faultPanels, q.Panel)
			}))
		})
		for _, v := range variablesOf(t, d) {
			await(t, "variable "+v.label, patience, func(ctx context.Context) error {
				return hasValues(ctx, c, v)
			})
		}
		t.Logf("%s: %d queries", d.Title, len(d.Queries))
	}
}

// TestRarePanelsHaveNumbers makes happen what they are about: every watch ends and every informer has to list again.
func TestRarePanelsHaveNumbers(t *testing.T) {
	c := theChain(t)
	var rare []dashboards.Query
	for _, d := range allDashboards(t) {
		for _, q := range d.Queries {
			if slices.Contains(rarePanels, q.Panel) {
				rare = append(rare, q)
			}
		}
	}
	if len(rare) < len(rarePanels) {
		t.Fatalf("only %d queries for the panels %q", len(rare), rarePanels)
	}
	inject(t, c, "etcd-compact")
	await(t, "rare panels", patience, func(ctx context.Context) error {
		return errorOf(emptyQueries(ctx, c, rare, func(_ dashboards.Query, s []stack.Sample) bool {
			return slices.ContainsFunc(s, isNumber)
		}))
	})
	awaitKinds(t, c, `k8s_informer_watch_connected{name="informer-exporter"} == 1`, defaultKinds())
	awaitKinds(t, c, `k8s_informer_watch_connected{name="load"} == 1`, loadKinds)
}

func allDashboards(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	all, err := dashboards.All(dashboards.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isNumber(s stack.Sample) bool { return !math.IsNaN(s.Value) }

// emptyQueries returns the queries whose results are not good enough.
func emptyQueries(ctx context.Context, c *chain.Chain, queries []dashboards.Query, good func(dashboards.Query, []stack.Sample) bool) (empty []string, err error) {
	for _, q := range queries {
		samples, err := c.Prometheus.Query(ctx, q.Plain(rateInterval))
		if err != nil {
			return nil, fmt.Errorf("panel %q: %w", q.Panel, err)
		}
		if !good(q, samples) {
			empty = append(empty, fmt.Sprintf("panel %q: %d series and no number: %s", q.Panel, len(samples), q.Plain(rateInterval)))
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

// hasValues fails if a variable would offer nothing to choose from.
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

// TestEmptyPanelsAreSeen renames the metrics of each query: every one of them must be found empty then, so none is of the
// kind that returns something whatever is there.
func TestEmptyPanelsAreSeen(t *testing.T) {
	c := theChain(t)
	renamed := strings.NewReplacer("k8s_informer_", "k8s_renamed_", "informer_exporter_", "renamed_exporter_",
		"informer_queued_", "renamed_queued_", "informer_processing_", "renamed_processing_", "informer_store_", "renamed_store_",
		"controller_", "renamed_controller_", "k8s_client_", "renamed_client_", "workqueue_", "renamed_workqueue_",
		"leader_election_", "renamed_election_", "k8s_lease_", "renamed_lease_", "k8s_object_", "renamed_object_")
	for _, d := range allDashboards(t) {
		for _, q := range d.Queries {
			q.Expr = renamed.Replace(q.Expr)
			empty, err := emptyQueries(t.Context(), c, []dashboards.Query{q}, func(_ dashboards.Query, s []stack.Sample) bool { return len(s) > 0 })
			if err != nil || len(empty) != 1 {
				t.Errorf("panel %q would not be missed: %v\n%s", q.Panel, err, q.Expr)
			}
		}
	}
	if err := hasValues(t.Context(), c, dashboardVariable{selector: "k8s_renamed_synced", label: "name"}); err == nil {
		t.Error("a variable without values would not be missed")
	}
}
