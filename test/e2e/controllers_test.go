package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// TestQueuesSideBySide (S7, S9, O4): the queues of a plain client-go controller, of one on controller-runtime and of
// kube-controller-manager are covered by the same query.
func TestQueuesSideBySide(t *testing.T) {
	c := theChain(t)
	const query = `sum by (job) (workqueue_depth) + sum by (job) (rate(workqueue_adds_total[1m])) + sum by (job) (rate(workqueue_work_duration_seconds_count[1m]))`
	await.Within(t, patience, "three kinds of controllers", func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, query)
		if err != nil {
			return err
		}
		for _, job := range []string{"kube-controller-manager", "owner-labels", "widgets"} {
			if !slices.ContainsFunc(samples, func(s stack.Sample) bool { return s.Labels["job"] == job && isNumber(s) }) {
				return fmt.Errorf("no queue of %s among %v", job, samples)
			}
		}
		return nil
	})
}

// TestLeaderIsKilled (S10, O2): when the leading replica is killed, exactly one other process reports that it is the
// leader. It may be the same replica, which is restarted.
func TestLeaderIsKilled(t *testing.T) {
	c := theChain(t)
	_, first, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inject(t, c, "leader-kill")
	await.Within(t, patience, "another leader", func(ctx context.Context) error {
		next, identity, err := c.Leader(ctx)
		if err != nil {
			return err
		}
		if identity == first {
			return fmt.Errorf("%s still leads", first)
		}
		instance := strings.TrimPrefix(next.URL, "http://")
		for query, want := range map[string]float64{
			`sum(controller_leader{lock="default/widgets"})`:                                     1,
			`controller_leader{lock="default/widgets", instance="` + instance + `"}`:             1,
			`controller_leader_transitions_total{event="acquired", instance="` + instance + `"}`: 1,
		} {
			samples, err := c.Prometheus.Query(ctx, query)
			if err != nil {
				return err
			}
			if len(samples) != 1 || samples[0].Value != want {
				return fmt.Errorf("%s leads; want %v of %s: %v", identity, want, query, samples)
			}
		}
		t.Logf("%s led, was killed, and %s leads", first, identity)
		return nil
	})
}
