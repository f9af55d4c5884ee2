//go:build unix

package demo_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// patience is the timeout of steps that take seconds on an idle machine.
const patience = 5 * time.Minute

func wait(t *testing.T, c *chain.Chain, query string, ok func([]stack.Sample) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Prometheus.WaitQuery(ctx, query, ok); err != nil {
		t.Fatal(err)
	}
}

func some(s []stack.Sample) bool { return len(s) > 0 }

// TestChain starts the whole stack, injects each fault, and verifies in Prometheus that the stack breaks and recovers.
func TestChain(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	begin := time.Now()
	c, err := chain.Start(t.Context(), chain.Options{
		Dir:    t.TempDir(),
		Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
		Traces: true,
		// A default of one minute would prolong this test by a minute.
		Generate: map[string]any{
			"objectives": map[string]any{"watch_down": map[string]any{"for": "3s"}}, "keepFiringFor": "3s",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begin).Round(time.Millisecond))
	stopped := false
	defer func() {
		if !stopped {
			_ = c.Stop(context.Background())
		}
	}()
	pids := map[string]int{
		"etcd": c.ControlPlane.Etcd.PID(), "kube-apiserver": c.ControlPlane.APIServer.PID(),
		"kube-controller-manager": c.ControlPlane.ControllerManager.PID(), "exporter": c.Exporter.PID(),
		"prometheus": c.Prometheus.PID(), "alertmanager": c.Alertmanager.PID(),
	}
	for name, pid := range pids {
		if pid == 0 || syscall.Kill(pid, 0) != nil {
			t.Errorf("%s does not run", name)
		}
	}

	for _, query := range []string{
		`k8s_informer_synced{name="load", informer_type="pods", cluster="local"} == 1`,
		`rate(k8s_informer_cache_hits_total{name="load"}[10s]) > 0`,
		`rate(k8s_informer_cache_misses_total{name="load"}[10s]) > 0`,
		`informer_exporter_build_info{cluster="local"}`,
		`k8s_informer_objects{name!="load", informer_type="deployments.apps"} > 0`,
		`controller_trace_spans_exported_total{name="load"} > 0`,
		`controller_trace_links_dropped_total{name="widgets", reason="items"} == 0`,
	} {
		wait(t, c, query, some)
	}
	await.NoError(t, "all rules are healthy", func() error {
		rules, err := c.Prometheus.Rules(t.Context())
		if bad := unhealthy(rules); err == nil && (bad != "" || len(rules) == 0) {
			err = fmt.Errorf("of %d rules: %s", len(rules), bad)
		}
		return err
	})

	t.Run("an exemplar leads to its trace", func(t *testing.T) { exemplarLeadsToTrace(t, c) })
	t.Run("an alert reaches the webhook and is resolved", func(t *testing.T) {
		waitFor := func(alert func(receiver.Alert) bool) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := c.Receiver.Wait(ctx, alert); err != nil {
				t.Error(err)
			}
		}
		watchDown := func(status string) func(receiver.Alert) bool {
			return func(a receiver.Alert) bool {
				return a.Name == "InformerWatchDown" && a.Status == status && a.Receiver == "ticket" && a.Labels["name"] == "load"
			}
		}
		c.Proxy.Cut()
		waitFor(watchDown("firing"))
		if err := c.Proxy.Restore(); err != nil {
			t.Fatal(err)
		}
		waitFor(watchDown("resolved"))
	})
	const (
		pods    = `{name="load", informer_type="pods"}`
		widgets = `{name="widgets"}`
		// The leader renews its lock every 0.8 s, and another one takes it over after 6 s at the earliest.
		sinceRenewal = `time() - max(controller_leader_last_renew_timestamp_seconds` + widgets + `)`
	)
	for _, f := range []struct{ name, broken, mended string }{
		{"cut", `k8s_informer_watch_connected` + pods + ` == 0`, `k8s_informer_watch_connected` + pods + ` == 1`},
		{"apiserver-kill", `up{job="apiserver"} == 0`, `up{job="apiserver"} == 1`},
		{"apiserver-pause", `up{job="apiserver"} == 0`, `up{job="apiserver"} == 1`},
		{
			"half-open",
			// Connected, but nothing arrives.
			`sum(rate(k8s_informer_watch_events_total` + pods + `[3s])) == 0 and on() k8s_informer_watch_connected` + pods + ` == 1`,
			`sum(rate(k8s_informer_watch_events_total` + pods + `[3s])) > 0 and on() k8s_informer_watch_connected` + pods + ` == 1`,
		},
		{"reset", `increase(k8s_informer_watches_total` + pods + `[10s]) > 1.5`, `increase(k8s_informer_watches_total` + pods + `[10s]) == 0`},
		{"mid-event", `increase(k8s_informer_watches_total` + pods + `[15s]) > 1.5`, `increase(k8s_informer_watches_total` + pods + `[15s]) == 0`},
		{"slow-handlers", `k8s_informer_handler_pending_events` + pods + ` > 5`, `k8s_informer_handler_pending_events` + pods + ` < 5`},
		{"etcd-compact", `k8s_informer_relists_total{name="load", informer_type="pods", reason="expired"} > 0`, `k8s_informer_watch_connected` + pods + ` == 1`},
		{"leader-kill", sinceRenewal + ` > 4`, sinceRenewal + ` < 4 and on() sum(controller_leader` + widgets + `) == 1`},
		{"leader-partition", sinceRenewal + ` > 4`, sinceRenewal + ` < 4 and on() sum(controller_leader` + widgets + `) == 1`},
		{"failing-reconciles", `sum(controller_queue_delayed_items` + widgets + `) >= 10`, `sum(controller_queue_delayed_items` + widgets + `) < 10`},
		{
			"panicking-reconciles",
			`sum(increase(controller_reconcile_total{name="widgets", result="panic"}[10s])) > 0`,
			`sum(increase(controller_reconcile_total{name="widgets", result="panic"}[10s])) == 0`,
		},
		{"hanging-cleanup", `sum(controller_finalizer_overdue` + widgets + `) == 2`, `sum(controller_finalizer_overdue` + widgets + `) == 0`},
	} {
		t.Run(f.name, func(t *testing.T) {
			// Otherwise, the metrics could still show the previous fault.
			wait(t, c, f.mended, some)
			fault, err := chain.FaultByName(f.name)
			if err != nil {
				t.Fatal(err)
			}
			restore, err := fault.Inject(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := restore(context.Background()); err != nil {
					t.Error(err)
				}
				wait(t, c, f.mended, some)
			}()
			wait(t, c, f.broken, some)
		})
	}

	dir := c.Dir()
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	stopped = true
	for name, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%s (pid %d) is still running", name, pid)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the caller's directory should not be removed: %v", err)
	}
}

// unhealthy lists the rules with errors, and those that have not been evaluated. Groups with an interval of minutes may not have
// been evaluated yet.
func unhealthy(rules []stack.Rule) string {
	slow := map[string]bool{}
	for _, g := range alerts.Rules(alerts.Config{}) {
		slow[g.Name] = g.Interval != ""
	}
	var bad strings.Builder
	for _, r := range rules {
		if r.Health != "ok" && (r.Health != "unknown" || !slow[r.Group]) {
			fmt.Fprintf(&bad, "%s %s %s; ", r.Name, r.Health, r.LastError)
		}
	}
	return bad.String()
}
