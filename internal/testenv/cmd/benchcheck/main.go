// Command benchcheck runs the benchmarks that have budgets and exits with an error if one is exceeded. `make bench-check` runs
// it from the root of the repository.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

// attempts is how often a benchmark must exceed its budget before it fails: other load on the machine may be the cause, and the
// ratio of a lister varies by up to 0.1 with the times of garbage collections.
const attempts = 5

func main() {
	results := budget.Results{}
	left := budget.Budgets
	for range attempts {
		for i, b := range left {
			if slices.ContainsFunc(left[:i], func(a budget.Budget) bool { return a.Package == b.Package && a.Benchmark == b.Benchmark }) {
				continue // another unit of the same benchmark
			}
			if err := results.Run(b.Package, b.Pattern()); err != nil {
				fmt.Fprintln(os.Stderr, "benchcheck:", err)
				os.Exit(1)
			}
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
