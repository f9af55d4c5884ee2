// Package budget measures the overhead of decorators in benchmarks, and defines its limits.
package budget

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Workload repeats an operation n times and returns the duration, excluding setup.
type Workload func(b *testing.B, n int) time.Duration

// Rounds is how often Ratio runs each workload. A run should take a few milliseconds: on a busy machine, some of many short runs
// are undisturbed.
const Rounds = 25

// Ratio alternates two workloads, Rounds times, and reports the fastest run of each and their ratio. Budgets limit the ratio:
// a busy machine slows both down. It also reports the ratio of medians, for workloads that are fastest when the machine gives
// them a single processor, such as several goroutines that share a lock. The number of repetitions is fixed, so that
// -benchtime 1x is enough.
func Ratio(b *testing.B, n int, plain, decorated Workload) {
	b.Helper()
	var each, allocs [2][]float64
	for range Rounds {
		for i, run := range []Workload{plain, decorated} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			each[i] = append(each[i], float64(run(b, n).Nanoseconds())/float64(n))
			runtime.ReadMemStats(&after)
			allocs[i] = append(allocs[i], float64(after.Mallocs-before.Mallocs)/float64(n))
		}
	}
	for i := range each {
		slices.Sort(each[i])
		slices.Sort(allocs[i])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each[0][0], "plain-ns")
	b.ReportMetric(each[1][0]-each[0][0], "added-ns")
	b.ReportMetric(each[1][0]/each[0][0], "ratio")
	b.ReportMetric(each[1][Rounds/2]/each[0][Rounds/2], "median-ratio")
	b.ReportMetric(math.Round(allocs[1][0]-allocs[0][0]), "added-allocs")
}

// CPUTime returns the user and system time of the process.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
