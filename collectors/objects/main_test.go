package objects

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	testclock "k8s.io/utils/clock/testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// fixture is a Collector with a fake clock.
type fixture struct {
	*Collector
	registry *prometheus.Registry
	clock    *testclock.FakePassiveClock
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newFixture(t testing.TB, options Options) *fixture {
	t.Helper()
	f := &fixture{registry: prometheus.NewRegistry(), clock: testclock.NewFakePassiveClock(noon)}
	var err error
	if f.Collector, err = newCollector(f.registry, options, f.clock); err != nil {
		t.Fatal(err)
	}
	return f
}

// deployments returns a handler of objects with generations.
func (f *fixture) deployments() *Handler {
	k := f.NewHandler("deployments.apps")
	k.SetGenerations(true)
	return k
}

func (f *fixture) pass(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

// samples are values by label values, in the order of the catalog and joined by slashes.
type samples map[string]float64

// take returns the series of a metric.
func take(t testing.TB, g prometheus.Gatherer, definition catalog.Definition) samples {
	t.Helper()
	m := definition.Define()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	s := samples{}
	for _, family := range families {
		if family.GetName() != m.Name {
			continue
		}
		for _, metric := range family.GetMetric() {
			var values []string
			for _, name := range m.LabelNames() {
				for _, pair := range metric.GetLabel() {
					if pair.GetName() == name && name != catalog.LabelName.Name { // the same for all
						values = append(values, pair.GetValue())
					}
				}
			}
			s[strings.Join(values, "/")] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + metric.GetHistogram().GetSampleSum()
		}
	}
	return s
}

func (f *fixture) take(t testing.TB, m catalog.Definition) samples {
	t.Helper()
	return take(t, f.registry, m)
}

// observations returns the number of observations of a histogram over all of its series.
func (f *fixture) observations(t testing.TB, definition catalog.Definition) (n uint64) {
	t.Helper()
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == definition.Define().Name {
			for _, m := range family.GetMetric() {
				n += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return n
}
