package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// undecorated are the jobs of programs without the library: an operator on controller-runtime,
// kube-controller-manager and the API server.
const undecorated = "tiers|kube-controller-manager|apiserver"

// The minimum numbers of panels and alerts that programs without the library fill. The other panels need the library or the
// exporter; docs/dashboards.md lists them.
const (
	undecoratedPanels = 60
	undecoratedAlerts = 12
)

// TestUndecoratedPrograms counts the panels with data in a Prometheus that scrapes only programs without the library, and the
// alerts with expressions that find series there.
func TestUndecoratedPrograms(t *testing.T) {
	c := theChain(t)
	rarely(t, c)
	engine := newEngine(t)
	var with, without []string
	await.Within(t, patience, "panels", func(ctx context.Context) error {
		with, without = nil, nil
		a, err := only(ctx, c, engine, undecorated)
		if err != nil {
			return err
		}
		for _, d := range boards(t, dashboards.Config{}) {
			seen := map[string]bool{}
			for _, q := range d.Queries {
				id := d.UID + ": " + q.Panel
				has, err := a.has(ctx, q)
				if err != nil {
					return fmt.Errorf("%s: %w", id, err)
				}
				seen[id] = seen[id] || has
			}
			for id, has := range seen {
				if has {
					with = append(with, id)
				} else {
					without = append(without, id)
				}
			}
		}
		if len(with) < undecoratedPanels {
			return fmt.Errorf("%d panels have data, want at least %d: %v", len(with), undecoratedPanels, with)
		}
		return nil
	})
	slices.Sort(with)
	slices.Sort(without)
	t.Logf("%d of %d panels have data:\n%s\nwithout data:\n%s", len(with), len(with)+len(without), strings.Join(with, "\n"), strings.Join(without, "\n"))

	var found []string
	for _, a := range alerts.All() {
		if undecoratedAlert(t, c, a) {
			found = append(found, a.Name)
		}
	}
	t.Logf("%d of %d alerts find series: %v", len(found), len(alerts.All()), found)
	if len(found) < undecoratedAlerts {
		t.Errorf("%d alerts find series, want at least %d", len(found), undecoratedAlerts)
	}
}

// undecoratedAlert reports whether an alert reads a metric that these programs or the API server have.
func undecoratedAlert(t *testing.T, c *chain.Chain, a alerts.Alert) bool {
	t.Helper()
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Alert != a.Name {
				continue
			}
			for _, v := range selectorsOf(t, r.Expr) {
				if !ofUndecorated(v) {
					continue
				}
				samples, err := c.Prometheus.Query(t.Context(), fmt.Sprintf(`count(last_over_time({__name__=%q, job=~%q}[1m]))`, v.Name, undecorated))
				if err != nil {
					t.Fatal(err)
				}
				if len(samples) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// ofUndecorated reports whether a selector reads a metric of client-go, of controller-runtime or of the API server.
func ofUndecorated(v *parser.VectorSelector) bool {
	s, ok := lookUp(v.Name, nil)
	return ok && (s.metric.Foreign() || s.metric.Family == catalog.UpstreamQueueDepth.Family)
}

// TestServerMetricsExist compares the catalog with kube-apiserver's own metrics: names and labels. A counter without events has no
// series; its name is a constant of the program. A scrape may have failed just now.
func TestServerMetricsExist(t *testing.T) {
	c := theChain(t)
	program, err := stack.Binary(t.Context(), stack.APIServerProgram, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, m := range catalog.All() {
		if m.Family != catalog.ServerTerminatedWatchers.Family || m.Name == catalog.ServerDispatch.Name { // since 1.37
			continue
		}
		samples, err := c.Prometheus.Query(t.Context(), fmt.Sprintf(`last_over_time({__name__=~"%s(_count)?", job="apiserver"}[1m])`, m.Name))
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) == 0 {
			constant := strings.TrimPrefix(strings.TrimPrefix(m.Name, "apiserver_"), "flowcontrol_")
			if !bytes.Contains(content, []byte(constant)) {
				t.Errorf("kube-apiserver has no metric %s", m.Name)
			}
			t.Logf("%s has no event yet", m.Name)
			continue
		}
		series++
		for _, sample := range samples {
			// Prometheus drops empty labels, such as the core group.
			if more := minus(slices.Sorted(maps.Keys(sample.Labels)), slices.Concat([]string{metricName}, targetLabels, m.LabelNames())); len(more) > 0 {
				t.Errorf("%s has the labels %v, which the catalog lacks", m.Name, more)
				break
			}
		}
	}
	if series < 3 {
		t.Errorf("only %d metrics have series", series)
	}
}
