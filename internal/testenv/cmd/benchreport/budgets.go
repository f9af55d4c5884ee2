package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

var budgets = section{
	id: "budgets", title: "Measured",
	runs: budgeted(func(budget.Budget) bool { return true }),
	again: func(results budget.Results) []benchmarks {
		return budgeted(func(b budget.Budget) bool { met, _ := b.Compare(results); return !met })
	},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString(page.Head("Benchmark", "Unit", "Budget", "Measured", ""))
		row := func(b budget.Budget) {
			v := f.get(b.Benchmark, b.Unit)
			measured := number(v)
			if strings.HasSuffix(b.Unit, "ratio") {
				measured = fmt.Sprintf("%.3f", v)
			}
			t.WriteString(page.Row(b.Benchmark, b.Unit, "at most "+fmt.Sprint(b.Max), measured, either(v <= b.Max, "met", "**missed**")))
		}
		for _, b := range withThroughput {
			row(b)
		}
	},
}

// withThroughput adds the budget that `make bench-check` does not check.
var withThroughput = append(slices.Clone(budget.Budgets), budget.Budget{Package: informers, Benchmark: "APIServer", Unit: "median-ratio", Max: 1.02})

// budgeted returns the benchmarks of the selected budgets, each once.
func budgeted(selected func(budget.Budget) bool) (runs []benchmarks) {
	for _, b := range withThroughput {
		if r := (benchmarks{b.Package, b.Pattern()}); selected(b) && !slices.Contains(runs, r) {
			runs = append(runs, r)
		}
	}
	return runs
}
