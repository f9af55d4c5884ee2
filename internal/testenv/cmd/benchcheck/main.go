// Command benchcheck runs the benchmarks that have budgets and exits with an error if one is exceeded. `make bench-check` runs
// it from the root of the repository.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

// attempts is how often a benchmark must exceed its budget before it fails: other load on the machine may be the cause.
const attempts = 3

func main() {
	results := budget.Results{}
	left := budget.Budgets
	for range attempts {
		if err := run(left, results); err != nil {
			fmt.Fprintln(os.Stderr, "benchcheck:", err)
			os.Exit(1)
		}
		left = slices.DeleteFunc(slices.Clone(left), func(b budget.Budget) bool { kept, _ := b.Compare(results); return kept })
	}
	for _, b := range budget.Budgets {
		_, text := b.Compare(results)
		_, _ = fmt.Fprintln(os.Stdout, text)
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "benchcheck: %d of %d budgets are exceeded\n", len(left), len(budget.Budgets))
		os.Exit(1)
	}
}

// run runs each benchmark of the given budgets once.
func run(budgets []budget.Budget, results budget.Results) error {
	var done []string
	for _, b := range budgets {
		if slices.Contains(done, b.Package+b.Benchmark) {
			continue
		}
		done = append(done, b.Package+b.Benchmark)
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", b.Pattern(), "-benchtime", "1x", "./"+b.Package)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", b.Benchmark, err, out)
		}
		results.Add(string(out))
	}
	return nil
}
