package e2e_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// rarePanels are quantiles and means of events that are minutes apart or happen at the start. Their series always
// exist, but they are not a number without such events. TestFaults sees numbers while the listed fault lasts.
var rarePanels = map[string]string{
	"Coverage gap p99": "etcd-compact", "Watch duration, median": "etcd-compact", "Sync duration p99": "etcd-compact",
	"List duration": "etcd-compact", "Objects per list": "etcd-compact",
}

// faultPanels show what does not happen in a healthy cluster, and may have no series before.
var faultPanels = map[string]string{
	"Backoff": "failing-reconciles", "Requests rejected with 429": "blocked-drain",
	"Rollback duration p99": "hanging-cleanup",
}

// TestEveryPanelHasData runs the query of each panel on a real Prometheus with a healthy cluster.
func TestEveryPanelHasData(t *testing.T) {
	c := theChain(t)
	for _, d := range boards(t, dashboards.Config{}) {
		await.Within(t, patience, d.Title, func(ctx context.Context) error {
			return errorOf(emptyQueries(ctx, c, d.Queries, func(q query, s []stack.Sample) bool {
				_, rare := rarePanels[q.Panel]
				_, mayLack := faultPanels[q.Panel]
				return slices.ContainsFunc(s, isNumber) || len(s) > 0 && rare || mayLack
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

// TestRarePanelsHaveFaults verifies that each is a panel, filled by a fault that TestFaults injects.
func TestRarePanelsHaveFaults(t *testing.T) {
	var panels []string
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			panels = append(panels, q.Panel)
		}
	}
	for _, list := range []map[string]string{rarePanels, faultPanels} {
		for panel, fault := range list {
			if !slices.Contains(panels, panel) {
				t.Errorf("there is no panel %q", panel)
			}
			if _, made := told[fault]; !made {
				t.Errorf("nothing makes the fault %q, which is to fill %q", fault, panel)
			}
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
		"controller_", "renamed_controller_", "k8s_client_", "renamed_client_", "workqueue_", "renamed_workqueue_",
		"leader_election_", "renamed_election_", "k8s_lease_", "renamed_lease_", "k8s_object_", "renamed_object_")
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			q.Expr = renamed.Replace(q.Expr)
			empty, err := emptyQueries(t.Context(), c, []query{q}, func(_ query, s []stack.Sample) bool { return len(s) > 0 })
			if err != nil || len(empty) != 1 {
				t.Errorf("panel %q would not be missed: %v\n%s", q.Panel, err, q.Expr)
			}
		}
	}
	if err := hasValues(t.Context(), c, dashboardVariable{selector: "k8s_renamed_synced", label: "name"}); err == nil {
		t.Error("a variable without values would not be missed")
	}
}
