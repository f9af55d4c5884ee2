// Package metricstest compares what a registry reports before and after something happened, so that a test can say what
// changed and that nothing else did.
package metricstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Snapshot maps series, written as name{label=value,...}, to values. Histograms appear as _count and _sum. The labels
// name, informer_type and namespace are left out: a snapshot is of one informer, or of several with other labels that
// tell their series apart.
type Snapshot map[string]float64

// Take gathers a registry, without what an Observer reports of itself while there is nothing to report: it is there as
// long as the Observer is, whatever informers come and go.
func Take(t testing.TB, g prometheus.Gatherer) Snapshot {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	s := Snapshot{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name, labels := family.GetName(), labelString(m)
			if name == catalog.InformerLabelOverflow.Name && m.GetCounter().GetValue() == 0 {
				continue
			}
			switch {
			case m.GetHistogram() != nil:
				s[name+"_count"+labels] = float64(m.GetHistogram().GetSampleCount())
				s[name+"_sum"+labels] = m.GetHistogram().GetSampleSum()
			case m.GetCounter() != nil:
				s[name+labels] = m.GetCounter().GetValue()
			default:
				s[name+labels] = m.GetGauge().GetValue()
			}
		}
	}
	return s
}

// omitted are the labels that do not tell series of one informer apart.
var omitted = []string{"name", "informer_type", "namespace"}

func labelString(m *dto.Metric) string {
	var pairs []string
	for _, l := range m.GetLabel() {
		if !slices.Contains(omitted, l.GetName()) {
			pairs = append(pairs, l.GetName()+"="+l.GetValue())
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// Since returns by how much the series have changed since an earlier snapshot, without those that have not, the sums
// of histograms, and those whose names begin with one of the given prefixes. A series that is gone has gone back to 0.
func (s Snapshot) Since(before Snapshot, except ...string) Snapshot {
	changed := Snapshot{}
	compare := func(series string) {
		name, _, _ := strings.Cut(series, "{")
		if strings.HasSuffix(name, "_sum") || slices.ContainsFunc(except, func(p string) bool { return strings.HasPrefix(series, p) }) {
			return
		}
		if delta := s[series] - before[series]; delta != 0 {
			changed[series] = delta
		}
	}
	for series := range s {
		compare(series)
	}
	for series := range before {
		compare(series)
	}
	return changed
}

// Family returns the series of one name.
func (s Snapshot) Family(name string) Snapshot {
	family := Snapshot{}
	for series, value := range s {
		if found, _, _ := strings.Cut(series, "{"); found == name {
			family[series] = value
		}
	}
	return family
}

// Counts returns what can be compared exactly: everything but the sums of histograms.
func (s Snapshot) Counts() Snapshot {
	counts := maps.Clone(s)
	maps.DeleteFunc(counts, func(series string, _ float64) bool {
		name, _, _ := strings.Cut(series, "{")
		return strings.HasSuffix(name, "_sum")
	})
	return counts
}

// Sum adds all values up.
func (s Snapshot) Sum() float64 {
	var sum float64
	for _, value := range s {
		sum += value
	}
	return sum
}

// String lists the series in order.
func (s Snapshot) String() string {
	var b strings.Builder
	for _, series := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s %v\n", series, s[series])
	}
	return b.String()
}

// Equal fails the test if s is not exactly want.
func (s Snapshot) Equal(t testing.TB, want Snapshot) {
	t.Helper()
	if !maps.Equal(s, want) {
		t.Errorf("got:\n%swant:\n%s", s, want)
	}
}

// Eventually waits until the condition holds for what the registry reports twice in a row, and returns the second. A
// scrape takes its time: what it has read first, gauges before histograms, can be older than what the condition was about.
func Eventually(t testing.TB, g prometheus.Gatherer, what string, condition func(Snapshot) bool) Snapshot {
	t.Helper()
	end := time.Now().Add(deadline)
	for held := false; ; {
		s := Take(t, g)
		holds := condition(s)
		if holds && held {
			return s
		}
		if held = holds; held {
			continue
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v; the registry reports:\n%s", what, deadline, s)
		}
		time.Sleep(pollInterval)
	}
}

const (
	deadline     = 60 * time.Second
	pollInterval = 10 * time.Millisecond
)
