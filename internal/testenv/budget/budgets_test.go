package budget_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

const output = `goos: linux
pkg: example.com/queue
BenchmarkQueue/reporting/ready=1-2    	       1	        -1.000 added-allocs	        22.59 added-ns	         1.144 ratio
BenchmarkQueue/reporting/ready=1-2    	       1	         0 added-allocs	        20.5 added-ns	         1.05 ratio
BenchmarkLister 	       1	         1.2 ratio
BenchmarkBroken says something else
I1122 07:57:51 reflector.go:664] BenchmarkLister 1 0.1 ratio
PASS
`

func TestResults(t *testing.T) {
	got, want := budget.Results{}, budget.Results{
		{"Queue/reporting/ready=1", "added-allocs"}: -1,
		{"Queue/reporting/ready=1", "added-ns"}:     20.5,
		{"Queue/reporting/ready=1", "ratio"}:        1.05,
		{"Lister", "ratio"}:                         1.2,
	}
	if got.Add(output); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// go test prints the name of a benchmark before it runs, and logs follow on the same line.
func TestLogsAreLeftOut(t *testing.T) {
	results := budget.Results{}
	results.Add("BenchmarkA-2   \tI1123 03:17:44.703584   19160 warnings.go:107] text\ntime=2026-11-23T03:17:44Z level=INFO msg=started\n       1\t 2.5 p99-ms\n")
	if got := results[[2]string{"A", "p99-ms"}]; got != 2.5 {
		t.Errorf("got %v", results)
	}
}

func TestCompare(t *testing.T) {
	results := budget.Results{}
	results.Add(output)
	for _, c := range []struct {
		budget budget.Budget
		kept   bool
		says   string
	}{
		{budget.Budget{Benchmark: "Queue/reporting/ready=1", Unit: "ratio", Max: 1.05}, true, "1.05, budget   1.05  ok"},
		{budget.Budget{Benchmark: "Lister", Unit: "ratio", Max: 1.1}, false, "1.20, budget   1.10  EXCEEDED"},
		{budget.Budget{Benchmark: "Renamed", Unit: "ratio", Max: 1.1}, false, "NaN, budget   1.10  EXCEEDED"},
		{budget.Budget{Benchmark: "Lister", Unit: "added-ns", Max: 10}, false, "EXCEEDED"},
	} {
		if kept, text := c.budget.Compare(results); kept != c.kept || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %v, %q", c.budget, kept, text)
		}
	}
}

func TestPattern(t *testing.T) {
	b := budget.Budget{Benchmark: "Queue/reporting/ready=1"}
	if got, want := b.Pattern(), "^BenchmarkQueue$/^reporting$/^ready=1$"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, b := range budget.Budgets {
		for _, part := range strings.Split(b.Pattern(), "/") {
			if _, err := regexp.Compile(part); err != nil {
				t.Errorf("%s: %v", b.Benchmark, err)
			}
		}
	}
}
