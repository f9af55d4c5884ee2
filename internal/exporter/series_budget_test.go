package exporter

import (
	"maps"
	"slices"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/cost"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// seriesByType counts the series that Prometheus stores, by informer_type or resource, and those without either under the empty
// name. It leaves out terminating objects and generation lag in single namespaces, which other tests may cause, and outcomes
// that occur only on a slow machine.
func seriesByType(families []*dto.MetricFamily) map[string]int {
	slow := map[string][]string{
		catalog.InformerAudits.Name:           {"skipped"},                     // the watch was down, or the cache changed during the audit
		catalog.InformerFreshnessChecks.Name:  {"error", "lagging", "skipped"}, // the reset interrupted a check, the watch was down, or events came late
		catalog.InformerWatchDisconnects.Name: {"error"},                       // the reset interrupted a read
		catalog.ClientRequests.Name:           {"error"},                       // the reset interrupted a request
	}
	n := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			of, left := "", false
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case catalog.LabelInformerType.Name, catalog.LabelResource.Name:
					of = l.GetValue()
				case "namespace":
					left = left || l.GetValue() != "*"
				case "result", "reason", "code":
					left = left || slices.Contains(slow[f.GetName()], l.GetValue())
				}
			}
			if !left {
				n[of] += metricstest.SeriesOf(m)
			}
		}
	}
	return n
}

// After all checks and a disconnect of each informer, the exporter stays within its budgets for the default kinds, and for
// 100 more of the same.
func TestSeriesOfTheExporter(t *testing.T) {
	for _, budget := range []struct {
		detail             string
		defaultKinds, n100 int // series
	}{{config.DetailFull, 2000, 8000}, {config.DetailEssential, 850, 4250}} {
		t.Run(budget.detail, func(t *testing.T) {
			n := seriesOfDefaultKinds(t, budget.detail)
			total := 0
			for _, count := range n {
				total += count
			}
			more := total + 100*(total-n[""])/len(kinds.Default())
			t.Logf("%d series, %d of no kind; computed for 100 kinds more: %d", total, n[""], more)
			if total > budget.defaultKinds || total < budget.defaultKinds/2 {
				t.Errorf("%d series of the default kinds, want %d to %d: %v", total, budget.defaultKinds/2, budget.defaultKinds, n)
			}
			informers := make([]cost.Informer, 0, len(kinds.Default()))
			for _, k := range kinds.Default() {
				informers = append(informers, cost.Informer{Resource: k.Type()})
			}
			if predicted := cost.Of(config.Config{Detail: budget.detail}, informers).Series; predicted < total*97/100 || predicted > total*105/100 {
				t.Errorf("%d series, of which %d belong to no kind; informer-exporter cost predicts %d", total, n[""], predicted)
			}
			if more > budget.n100 {
				t.Errorf("%d series with 100 kinds more, want at most %d: %v", more, budget.n100, n)
			}
		})
	}
}

// seriesOfDefaultKinds counts series by type, after all events that add series.
func seriesOfDefaultKinds(t *testing.T, detail string) map[string]int {
	t.Helper()
	proxy, cluster := stacktest.Proxied(t)
	e := newReal(t, Options{REST: cluster, Config: config.Config{Detail: detail, Checks: config.Checks{Freshness: every(time.Second), Audit: every(time.Second)}}})
	run(t, e, cluster)
	all := len(kinds.Default())
	reports := func(metric string) func() bool {
		return func() bool {
			return len(exportertest.Values(t, e.Gatherer(), metric, "informer_type")) == all
		}
	}
	waitReady(t, e)
	proxy.Reset()
	await.True(t, "second watches of all kinds", func() bool {
		watches := exportertest.Values(t, e.Gatherer(), catalog.InformerWatches.Name, "informer_type")
		return len(watches) == all && slices.Min(slices.Collect(maps.Values(watches))) > 1
	})
	waitReady(t, e)
	await.True(t, "audits of all kinds", reports(catalog.InformerAuditDifferences.Name))
	if detail == config.DetailFull {
		await.True(t, "freshness checks of all kinds", reports(catalog.InformerFreshnessChecks.Name))
	}
	await.True(t, "watches that have been open for a second", func() bool {
		return len(exportertest.Values(t, e.Gatherer(), catalog.InformerFailures.Name, "informer_type")) == 0
	})
	families, err := e.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	return seriesByType(families)
}
