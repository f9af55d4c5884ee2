// Package budget measures the overhead of decorators in benchmarks, and defines its limits.
package budget

import (
	"math"
	"runtime"
	"testing"
	"time"
)

// Workload repeats an operation n times and returns the duration, excluding setup.
type Workload func(b *testing.B, n int) time.Duration

// Ratio runs two workloads in turn, several times, and reports the best of each and their ratio. Budgets limit the ratio: a
// busy machine slows both down. The number of repetitions is fixed, so that -benchtime 1x is enough.
func Ratio(b *testing.B, n int, plain, decorated Workload) {
	b.Helper()
	const rounds = 7
	var best, allocs [2]float64
	for round := range rounds {
		for i, run := range []Workload{plain, decorated} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			each := float64(run(b, n).Nanoseconds()) / float64(n)
			runtime.ReadMemStats(&after)
			allocated := float64(after.Mallocs-before.Mallocs) / float64(n)
			if round == 0 || each < best[i] {
				best[i] = each
			}
			if round == 0 || allocated < allocs[i] {
				allocs[i] = allocated
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best[0], "plain-ns")
	b.ReportMetric(best[1]-best[0], "added-ns")
	b.ReportMetric(best[1]/best[0], "ratio")
	b.ReportMetric(math.Round(allocs[1]-allocs[0]), "added-allocs")
}
