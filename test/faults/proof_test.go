package faults

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fault marks a test as the proof of a row and lets it run in parallel. At its end, the test fails if the row has a claim
// that it has not verified.
func fault(t *testing.T) {
	t.Helper()
	proof(t)
	t.Parallel()
}

// proof is like fault, for a test that must run alone.
func proof(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		part := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
		if t.Failed() || t.Skipped() || part || testing.Short() { // -short skips subtests with servers
			return
		}
		for _, row := range Rows() {
			if row.Test != t.Name() {
				continue
			}
			for _, c := range claimsOf(row) {
				if !c.holds(evidenceOf(t)) {
					t.Errorf("rows.go says %s, which this test does not show", c)
				}
			}
		}
	})
}

// evidence is a change of a series that a test has verified.
type evidence struct {
	series string
	kind   kind
	value  float64
}

// record holds the evidence by test.
var record = struct {
	sync.Mutex
	byTest map[string][]evidence
}{byTest: map[string][]evidence{}}

// shown records the evidence of a test or subtest.
func shown(t testing.TB, series string, k kind, value float64) {
	test, _, _ := strings.Cut(t.Name(), "/")
	record.Lock()
	defer record.Unlock()
	record.byTest[test] = append(record.byTest[test], evidence{series, k, value})
}

func evidenceOf(t testing.TB) []evidence {
	record.Lock()
	defer record.Unlock()
	return slices.Clone(record.byTest[t.Name()])
}

// holds reports whether a claim follows from the evidence.
func (c claim) holds(shown []evidence) bool {
	found := slices.ContainsFunc(shown, func(e evidence) bool {
		switch c.kind {
		case mentioned:
			return c.is(e.series)
		case unchanged:
			return c.is(e.series) && e.kind == changedBy
		default:
			return c.is(e.series) && e.kind == c.kind && e.value == c.value
		}
	})
	return found != (c.kind == unchanged)
}
