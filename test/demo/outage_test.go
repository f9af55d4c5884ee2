//go:build unix

package demo_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
)

// shortened are the objectives that an outage concerns, at a fraction of their times, so that the test takes minutes. Alerts
// that follow from an outage wait for more than 15 s, the default scrape interval: the outage mutes them only after that.
var shortened = map[string]any{
	"api_unreachable":         map[string]any{"for": "20s", "window": "30s"},
	"watch_down":              map[string]any{"for": "25s"},
	"not_synced":              map[string]any{"for": "25s"},
	"sync_lag":                map[string]any{"for": "25s"},
	"sync_duration":           map[string]any{"window": "6m"},
	"coverage_gap":            map[string]any{"for": "6s", "window": "90s"},
	"watch_disconnects":       map[string]any{"for": "30s", "window": "30s"},
	"list_watch_errors":       map[string]any{"for": "40s", "window": "30s"},
	"exporter_kind_down":      map[string]any{"for": "30s"},
	"exporter_leader_missing": map[string]any{"for": "30s"},
	"leader_missing":          map[string]any{"for": "25s"},
	"leader_changes":          map[string]any{"for": "6s"},
	"leader_slow_renewals":    map[string]any{"for": "6s"},
	"lease_expired":           map[string]any{"for": "25s"},
	"lease_changes":           map[string]any{"for": "6s"},
	"client_errors":           map[string]any{"for": "40s", "window": "30s"},
	"queue_blocked":           map[string]any{"for": "30s", "window": "30s"},
	"queue_wait_p99":          map[string]any{"for": "30s", "window": "30s"},
	"reconcile_errors":        map[string]any{"for": "30s", "window": "30s"},
}

// TestOutageIsOnePage kills the API server until two programs with three replicas each have lost their leaders and the page has
// arrived. One page and at most three notifications are sent until everything has recovered and the alerts that the outage mutes
// are no longer muted.
func TestOutageIsOnePage(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	const most = 3 // notifications, the resolution of the page included
	c, err := chain.Start(t.Context(), chain.Options{
		Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Load:     load.Options{WritesPerSecond: 5, ReadsPerSecond: 20},
		Interval: 2 * time.Second, // also the scrape timeout
		Generate: map[string]any{"objectives": shortened, "keepFiringFor": "5s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	const leaders = `sum(controller_leader{job=~"widgets|owner-labels"})`
	noAlert := func(within time.Duration, what, matchers string) {
		t.Helper()
		await.Within(t, within, what, func(ctx context.Context) error {
			samples, err := c.Prometheus.Query(ctx, `ALERTS{`+matchers+`}`)
			if err == nil && len(samples) > 0 {
				err = fmt.Errorf("there are %v", samples)
			}
			return err
		})
	}
	equals := func(within time.Duration, query string, want float64) {
		t.Helper()
		await.Within(t, within, fmt.Sprintf("%s is %v", query, want), func(ctx context.Context) error {
			samples, err := c.Prometheus.Query(ctx, query)
			if err == nil && (len(samples) != 1 || samples[0].Value != want) {
				err = fmt.Errorf("got %v", samples)
			}
			return err
		})
	}
	equals(patience, leaders, 2)
	equals(patience, `count(controller_leader{job=~"widgets|owner-labels"})`, 6)
	await.Within(t, patience, "Prometheus sends alerts", func(ctx context.Context) error {
		own, err := metricstest.Scrape(ctx, c.Prometheus.URL+"/metrics")
		if err == nil && own.Sum("prometheus_notifications_alertmanagers_discovered") != 1 {
			err = errors.New("it has not discovered Alertmanager")
		}
		return err
	})
	// increase() returns nothing for a series with a single sample.
	await.Within(t, patience, "a history", func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, `min(count_over_time(up[1m])) >= 10`)
		if err == nil && len(samples) == 0 {
			err = errors.New("the programs have been scraped fewer than ten times")
		}
		return err
	})
	noAlert(patience, "a quiet start", `alertstate="firing"`)
	before := len(c.Receiver.Alerts())

	begin := time.Now()
	if err := c.ControlPlane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	equals(patience, leaders, 0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Receiver.Wait(ctx, func(a receiver.Alert) bool { return a.Receiver == "page" && a.Status == "firing" }); err != nil {
		t.Fatal(err)
	}
	await.Within(t, patience, "an alert that follows from the outage", func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, `ALERTS{alertname="InformerWatchDown", alertstate="firing"}`)
		if err == nil && len(samples) == 0 {
			err = errors.New("InformerWatchDown does not fire")
		}
		return err
	})
	if err := c.ControlPlane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the outage lasted %v", time.Since(begin).Round(time.Second))
	equals(2*patience, leaders, 2)
	const watches = `max by (job, instance) (k8s_informer_watch_connected) == 0`
	await.Within(t, patience, "all programs are connected", func(ctx context.Context) error {
		samples, err := c.Prometheus.Query(ctx, watches)
		if err == nil && len(samples) > 0 {
			err = fmt.Errorf("not connected: %v", samples)
		}
		return err
	})
	noAlert(3*patience, "the outage mutes nothing", `alertname="KubernetesAPIUnreachable"`)
	noAlert(2*patience, "a quiet end", `alertstate="firing"`)

	pages, all := map[int]bool{}, map[int]bool{}
	for _, a := range c.Receiver.Alerts()[before:] {
		t.Logf("notification %d %v after the start, to %s: %s %s %v", a.Notification, a.Arrived.Sub(begin).Round(time.Second), a.Receiver, a.Name, a.Status, a.Labels)
		all[a.Notification] = true
		if a.Receiver == "page" && a.Status == "firing" {
			pages[a.Notification] = true
			if a.Name != "KubernetesAPIUnreachable" {
				t.Errorf("%s pages", a.Name)
			}
		}
	}
	if len(pages) != 1 || len(all) > most {
		t.Errorf("%d pages and %d notifications in all, want one page and at most %d notifications", len(pages), len(all), most)
	}
}
