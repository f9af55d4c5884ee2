// Package metricstest reads metrics in tests: from a registry, a text or a URL. Snapshots of a registry before and after an
// operation show which series have changed, so that a test can assert all changes.
package metricstest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// Snapshot maps series, written as name{label=value,...}, to values. Histograms appear as _count and _sum. The labels name,
// informer_type and watch_namespace are left out: a snapshot is for one informer, or for several with different values of
// other labels.
type Snapshot map[string]float64

// Take gathers a registry. It leaves out series of the Observer itself that are 0, because they exist without informers, and the one that
// remains after the last informer.
func Take(t testing.TB, g prometheus.Gatherer) Snapshot {
	t.Helper()
	s := Snapshot{}
	for _, sample := range Gather(t, g) {
		if sample.Name == catalog.InformerLabelOverflow.Name && sample.Value == 0 || sample.Name == catalog.InformerEnded.Name {
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

// derived reports whether a series is a gauge of informers that depends only on other series and the time. Comparisons leave
// it out; tests read it by name.
func derived(series string) bool {
	name, _, _ := strings.Cut(series, "{")
	return slices.Contains([]string{"k8s_informer_watch_opened_timestamp_seconds", "k8s_informer_consecutive_failures", "k8s_informer_degraded"}, name)
}

// Since returns the change of each series since an earlier snapshot. It leaves out series that have not changed or are derived, the
// sums of histograms, and series with names that begin with one of the given prefixes. A deleted series counts as 0.
func (s Snapshot) Since(before Snapshot, except ...string) Snapshot {
	changed := Snapshot{}
	compare := func(series string) {
		name, _, _ := strings.Cut(series, "{")
		if strings.HasSuffix(name, "_sum") || derived(series) || slices.ContainsFunc(except, func(p string) bool { return strings.HasPrefix(series, p) }) {
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

// Equal fails the test if s has other series or values than want. A counter, histogram or summary that does not exist counts
// as 0, as do the gauges of duplicates and orphans: many series exist once they are not 0. An empty want allows no series at all.
func (s Snapshot) Equal(t testing.TB, want Snapshot) {
	t.Helper()
	if !maps.Equal(s.nonzero(), want.nonzero()) || len(want) == 0 && len(s) > 0 {
		t.Errorf("got:\n%swant:\n%s", s, want)
	}
}

// nonzero returns everything except derived series and those at 0 that may be absent.
func (s Snapshot) nonzero() Snapshot {
	rest := maps.Clone(s)
	maps.DeleteFunc(rest, func(series string, value float64) bool { return value == 0 && mayBeAbsent(series) || derived(series) })
	return rest
}

func mayBeAbsent(series string) bool {
	name, _, _ := strings.Cut(series, "{")
	if name == "k8s_informer_duplicates" || name == "k8s_informer_orphans" || derived(series) {
		return true
	}
	return strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count") || strings.HasSuffix(name, "_sum")
}

// Contains fails the test unless s has these series with these values. Unlike Equal, it allows other series.
func (s Snapshot) Contains(t testing.TB, want Snapshot) {
	t.Helper()
	for _, difference := range s.differences(want) {
		t.Error(difference)
	}
}

// differences describes the series of want that s lacks or has with another value.
func (s Snapshot) differences(want Snapshot) (found []string) {
	for _, series := range slices.Sorted(maps.Keys(want)) {
		value := want[series]
		if got, ok := s[series]; got != value || !ok && (value != 0 || !mayBeAbsent(series)) {
			found = append(found, fmt.Sprintf("%s = %v (exists: %t), want %v", series, got, ok, value))
		}
	}
	return found
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

// Await waits like Eventually until the registry has these series with these values, and returns the snapshot. Name every
// series that is compared afterwards: the code under test does not set all of them at once.
func Await(t testing.TB, g prometheus.Gatherer, want Snapshot) Snapshot {
	t.Helper()
	var s Snapshot
	await.NoError(t, "the expected series", func() error {
		for range 2 {
			s = Take(t, g)
			if found := s.differences(want); found != nil {
				return errors.New(strings.Join(found, "\n"))
			}
		}
		return nil
	})
	return s
}
