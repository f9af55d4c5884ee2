package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// loadKinds are the resources that the load generator watches.
var loadKinds = []string{"configmaps", "deployments.apps", "pods"}

func defaultKinds() []string {
	var names []string
	for _, k := range kinds.Default() {
		names = append(names, k.Type())
	}
	slices.Sort(names)
	return names
}

// awaitKinds waits until a query has a result for exactly these resources.
func awaitKinds(t *testing.T, c *chain.Chain, query string, want []string) {
	t.Helper()
	await.Within(t, patience, query, func(ctx context.Context) error {
		got, err := kindsOf(ctx, c, query)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("got the kinds %v, want %v", got, want)
		}
		return err
	})
}

func kindsOf(ctx context.Context, c *chain.Chain, query string) ([]string, error) {
	samples, err := c.Prometheus.Query(ctx, query)
	var kinds []string
	for _, s := range samples {
		kinds = append(kinds, s.Labels["informer_type"])
	}
	slices.Sort(kinds)
	return kinds, err
}

// TestSignals verifies that Prometheus has the metrics of both programs, for each of their informers.
func TestSignals(t *testing.T) {
	c := theChain(t)
	const (
		ofExporter = `{name="informer-exporter", job="informer-exporter", watch_namespace="*", cluster="` + chain.Cluster + `"}`
		ofLoad     = `{name="load", job="load", watch_namespace="*", cluster="` + chain.Cluster + `"}`
	)
	awaitKinds(t, c, `k8s_informer_synced`+ofExporter+` == 1`, defaultKinds())
	awaitKinds(t, c, `k8s_informer_synced`+ofLoad+` == 1`, loadKinds)
	awaitKinds(t, c, `informer_exporter_kind_up == 1`, defaultKinds())

	// The load generator writes the resources that it watches, and the exporter watches these as well.
	awaitKinds(t, c, `k8s_informer_event_lag_seconds_count`+ofLoad+` > 0`, loadKinds)
	for _, kind := range loadKinds {
		awaitKinds(t, c, `k8s_informer_event_lag_seconds_count{name="informer-exporter", informer_type="`+kind+`"} > 0`, []string{kind})
	}
	if kinds, err := kindsOf(t.Context(), c, `k8s_informer_synced == 2`); err != nil || len(kinds) > 0 {
		t.Errorf("a query without a match returns %v, %v", kinds, err)
	}
}

// TestCacheReadsRise verifies that the counters grow.
func TestCacheReadsRise(t *testing.T) {
	c := theChain(t)
	for _, metric := range []string{"k8s_informer_cache_hits_total", "k8s_informer_cache_misses_total"} {
		for _, kind := range loadKinds {
			query := fmt.Sprintf(`%s{name="load", informer_type=%q}`, metric, kind)
			first, rises := -1.0, 0
			await.Within(t, patience, query+" rises twice", func(ctx context.Context) error {
				samples, err := c.Prometheus.Query(ctx, query)
				if err != nil || len(samples) != 1 {
					return fmt.Errorf("got %v, %w", samples, err)
				}
				if now := samples[0].Value; now > first {
					first, rises = now, rises+1
				}
				if rises < 3 { // the first value is not growth
					return fmt.Errorf("it has risen fewer than two times, to %v", first)
				}
				return nil
			})
		}
	}
}

// TestRulesAreHealthy verifies that Prometheus has every generated rule, and evaluates it without an error. Prometheus first
// evaluates a group at any time within its interval, which is five minutes for long windows: this test runs after the others,
// when most of that time has passed.
func TestRulesAreHealthy(t *testing.T) {
	c := theChain(t)
	t.Parallel()
	want := map[string]int{}
	for _, g := range alerts.Rules(alerts.Config{}) {
		want[g.Name] = len(g.Rules)
	}
	await.Within(t, 5*time.Minute+patience, "rules", func(ctx context.Context) error {
		rules, err := c.Prometheus.Rules(ctx)
		if err != nil {
			return err
		}
		return unhealthy(rules, want)
	})
}

// unhealthy returns an error unless every rule is healthy and each group has the expected number of rules.
func unhealthy(rules []stack.Rule, want map[string]int) error {
	got := map[string]int{}
	for _, r := range rules {
		got[r.Group]++
		if r.Health != "ok" {
			return fmt.Errorf("%s: health is %s: %s", r.Name, r.Health, r.LastError)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("rules by group: got %v, want %v", got, want)
	}
	return nil
}

func TestUnhealthyRulesAreSeen(t *testing.T) {
	want := map[string]int{"g": 1}
	for _, bad := range [][]stack.Rule{
		{}, {{Group: "g", Health: "err"}}, {{Group: "g", Health: "unknown"}}, {{Group: "h", Health: "ok"}},
	} {
		if unhealthy(bad, want) == nil {
			t.Errorf("%v should be rejected", bad)
		}
	}
	if err := unhealthy([]stack.Rule{{Group: "g", Health: "ok"}}, want); err != nil {
		t.Error(err)
	}
}

func TestTargetsAreUp(t *testing.T) {
	c := theChain(t)
	await.Within(t, patience, "targets", func(ctx context.Context) error {
		targets, err := c.Prometheus.Targets(ctx)
		if err != nil {
			return err
		}
		var jobs []string
		for _, target := range targets {
			if target.Health != "up" {
				return fmt.Errorf("%s (%s) is %s: %s", target.Job, target.URL, target.Health, target.LastError)
			}
			jobs = append(jobs, target.Job)
		}
		slices.Sort(jobs)
		if want := []string{"apiserver", "informer-exporter", "kube-controller-manager", "load", "owner-labels", "owner-labels", "owner-labels", "tiers", "widgets", "widgets", "widgets"}; !slices.Equal(jobs, want) {
			return fmt.Errorf("got %v, want %v", jobs, want)
		}
		return nil
	})
}
