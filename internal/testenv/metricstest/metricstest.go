// Package metricstest reads metrics in tests: from a registry, a text or a URL. Snapshots of a registry before and after an
// operation show which series have changed, so that a test can assert all changes.
package metricstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// Snapshot maps series, written as name{label=value,...}, to values. Histograms appear as _count and _sum. The labels
// name, informer_type and watch_namespace are left out: a snapshot is for one informer, or for several with different values of other
// labels.
type Snapshot map[string]float64

// Take gathers a registry. It leaves out series of the Observer itself that are 0, because they exist without informers.
func Take(t testing.TB, g prometheus.Gatherer) Snapshot {
	t.Helper()
	s := Snapshot{}
	for _, sample := range Gather(t, g) {
		if sample.Name == catalog.InformerLabelOverflow.Name && sample.Value == 0 {
			continue
		}
		s[sample.Name+labelString(sample.Labels)] = sample.Value
	}
	return s
}

// omitted are the labels that do not distinguish series of one informer.
var omitted = []string{"name", "informer_type", "watch_namespace"}

func labelString(labels map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !slices.Contains(omitted, name) {
			pairs = append(pairs, name+"="+labels[name])
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// Since returns the change of each series since an earlier snapshot. It leaves out series that have not changed, the sums of
// histograms, and series whose names begin with one of the given prefixes. A deleted series counts as 0.
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

// Counts returns everything except the sums of histograms, which cannot be compared exactly.
func (s Snapshot) Counts() Snapshot {
	counts := maps.Clone(s)
	maps.DeleteFunc(counts, func(series string, _ float64) bool {
		name, _, _ := strings.Cut(series, "{")
		return strings.HasSuffix(name, "_sum")
	})
	return counts
}

// Sum returns the sum of all values.
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

// Eventually waits until the condition holds for two snapshots in a row and returns the second. Gathering is not atomic:
// within one snapshot, a gauge can be older than a histogram.
func Eventually(t testing.TB, g prometheus.Gatherer, what string, condition func(Snapshot) bool) Snapshot {
	t.Helper()
	var s Snapshot
	await.True(t, what, func() bool {
		for range 2 {
			if s = Take(t, g); !condition(s) {
				return false
			}
		}
		return true
	}, func() string { return "the registry reports:\n" + s.String() })
	return s
}
