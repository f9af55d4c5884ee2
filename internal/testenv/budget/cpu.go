package budget

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// cpuRounds is odd, so that there is a median.
const cpuRounds = 15

// CPURatio alternates two workloads and reports the median ratios of their CPU time and of their duration over all rounds. Unlike
// Ratio, it includes background work of a workload, such as exports and garbage collection, and other load on the machine hardly
// changes it. A round should take a few hundred milliseconds. The CPU time is that of the process.
func CPURatio(b *testing.B, n int, plain, decorated Workload) {
	b.Helper()
	var plains, added, ratios, durations, allocs []float64
	for range cpuRounds {
		var cpu, mallocs, took [2]float64
		for i, run := range []Workload{plain, decorated} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := CPUTime(b)
			took[i] = float64(run(b, n)) / float64(n)
			cpu[i] = float64(CPUTime(b)-begin) / float64(n)
			runtime.ReadMemStats(&after)
			mallocs[i] = float64(after.Mallocs-before.Mallocs) / float64(n)
		}
		plains, added = append(plains, cpu[0]), append(added, cpu[1]-cpu[0])
		ratios, durations = append(ratios, cpu[1]/cpu[0]), append(durations, took[1]/took[0])
		allocs = append(allocs, mallocs[1]-mallocs[0])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(plains), "plain-cpu-ns")
	b.ReportMetric(median(added), "added-cpu-ns")
	b.ReportMetric(median(ratios), "cpu-ratio")
	b.ReportMetric(median(durations), "median-ratio")
	b.ReportMetric(median(allocs), "added-allocs")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// CPUTime returns the user and system time of the process.
func CPUTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
