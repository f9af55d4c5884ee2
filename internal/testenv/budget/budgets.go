package budget

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Budget limits a value that a benchmark reports.
type Budget struct {
	Package   string // below the root of the repository
	Benchmark string // without the prefix Benchmark
	Unit      string
	Max       float64
}

// Budgets are the limits that `make bench-check` enforces. A budget is a ratio to undecorated code in the same run, an amount
// that a decorator may add, or an absolute limit for the exporter. docs/benchmarks.md explains them.
//
// Tests check the number of series. `make bench-check` does not check throughput on a real API server or the exporter's
// idle requests.
var Budgets = []Budget{
	{"collectors/informer", "Lister", "ratio", 1.10},
	{"collectors/informer", "Lister", "added-allocs", 0},
	{"collectors/informer", "Parallel/goroutines=2", "median-ratio", 1.10},
	{"collectors/informer", "Parallel/goroutines=16", "median-ratio", 1.10},
	{"collectors/informer", "GetByKey/beyond=counting", "ratio", 1.05},
	{"collectors/informer", "GetByKey/beyond=plain", "added-allocs", 0},
	{"collectors/informer", "Event/beyond=measuring-relay", "added-ns", 60},
	{"collectors/informer", "Event/beyond=relay", "added-allocs", 0},
	{"collectors/informer", "Memory", "added-KiB", 30},
	{"collectors/objects", "Memory", "B/object", 200},
	{"collectors/queue", "Queue/reporting/ready=1", "ratio", 1.10},
	{"collectors/queue", "Queue/reporting/ready=1", "added-allocs", 0},
	{"collectors/queue", "Queue/reporting/ready=1000", "ratio", 1.10},
	{"collectors/queue", "Queue/reporting/ready=1000", "added-allocs", 0},
	{"collectors/controllers", "Reconciler", "added-ns", 200},
	{"collectors/controllers", "Reconciler", "added-allocs", 0},
	{"internal/auditlog/report", "Events", "cpu-us/event", 50}, // 20,000 events a second on one core
	{"internal/auditlog/report", "Events", "cpu-s/GiB", 60},
	{"internal/auditlog/report", "Events", "heap-MiB", 100},
	{"cmd/exporter", "Scale/100000x23/exporter", "peak-MiB", 85},
	{"cmd/exporter", "Scale/100000x23/exporter", "scrape-cpu-ms", 10},
	{"cmd/exporter", "Scale/100000x123/exporter", "peak-MiB", 105},
	{"cmd/exporter", "Scale/100000x123/exporter", "scrape-cpu-ms", 40},
}

// Pattern returns the value of go test's flag -bench that selects exactly this benchmark.
func (b Budget) Pattern() string {
	parts := strings.Split("Benchmark"+b.Benchmark, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// Results are the reported values by benchmark and unit.
type Results map[[2]string]float64

// processors matches the GOMAXPROCS suffix that go test appends to the name of a benchmark.
var processors = regexp.MustCompile(`-\d+$`)

// Run runs the benchmarks of a package that match a pattern once, and adds their results.
func (r Results) Run(pkg, pattern string) error {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", "-timeout", "15m", "./"+pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", pattern, pkg, err, out[max(0, len(out)-4096):])
	}
	r.Add(string(out))
	return nil
}

// logLine is a line of klog or slog. It may follow the name of a benchmark, which go test prints without a new line.
var logLine = regexp.MustCompile(`(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.|time=\S+ level=)[^\n]*\n`)

// Add adds the output of go test. Of several values it keeps the smallest, because other load can only slow a benchmark down.
func (r Results) Add(output string) {
	for line := range strings.Lines(logLine.ReplaceAllString(output, "")) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for pair := range slices.Chunk(fields[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) < 2 {
				break // not a result
			}
			key := [2]string{name, pair[1]}
			if before, found := r[key]; !found || value < before {
				r[key] = value
			}
		}
	}
}

// Compare reports whether a budget is met, and describes the comparison. A missing result does not meet its budget.
func (b Budget) Compare(r Results) (kept bool, text string) {
	value, found := r[[2]string{b.Benchmark, b.Unit}]
	if !found {
		value = math.NaN()
	}
	kept = value <= b.Max
	verdict := "ok"
	if !kept {
		verdict = "EXCEEDED"
	}
	return kept, fmt.Sprintf("%-28s %-13s %8.2f, budget %6.2f  %s", b.Benchmark, b.Unit, value, b.Max, verdict)
}
