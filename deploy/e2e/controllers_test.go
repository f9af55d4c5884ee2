package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
)

// TestQueuesSideBySide (S7, S9, O4): the queues of a plain client-go controller, of one on controller-runtime and of
// kube-controller-manager answer to the same query.
func TestQueuesSideBySide(t *testing.T) {
	c := theChain(t)
	const query = `sum by (job) (workqueue_depth) + sum by (job) (rate(workqueue_adds_total[1m])) + sum by (job) (rate(workqueue_work_duration_seconds_count[1m]))`
	await(t, "three kinds of controllers", patience, func(ctx context.Context) error {
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

// TestLeaderIsKilled (S10, O2): when the leading replica dies, another one says that it leads, and exactly one does.
func TestLeaderIsKilled(t *testing.T) {
	c := theChain(t)
	first := awaitLeader(t, c.Prometheus, "")
	inject(t, c, "leader-kill")
	second := awaitLeader(t, c.Prometheus, first)
	t.Logf("%s led, was killed, and %s leads", first, second)
	await(t, "the acquisition is counted", patience, func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, `controller_leader_transitions_total{event="acquired", instance="`+second+`"}`)
		if err == nil && (len(samples) != 1 || samples[0].Value != 1) {
			err = fmt.Errorf("want 1 acquisition: %v", samples)
		}
		return err
	})
}

// awaitLeader returns the instance that leads, once exactly one does and it is not the one that is given.
func awaitLeader(t *testing.T, p *stack.Prometheus, other string) (instance string) {
	t.Helper()
	await(t, "a leader", patience, func(ctx context.Context) error {
		samples, err := p.Query(ctx, `controller_leader{lock="widgets"} == 1`)
		if err != nil {
			return err
		}
		if len(samples) != 1 || samples[0].Labels["instance"] == other {
			return fmt.Errorf("want one leader that is not %q: %v", other, samples)
		}
		instance = samples[0].Labels["instance"]
		return nil
	})
	return instance
}
