package main

import (
	"fmt"
	"slices"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

var budgets = part{
	id: "budgets", page: "docs/benchmarks.md",
	runs: budgeted(func(budget.Budget) bool { return true }),
	again: func(results budget.Results) []benchmarks {
		return budgeted(func(b budget.Budget) bool { met, _ := b.Compare(results); return !met })
	},
	render: func(text string, f *figures) (string, error) {
		table := page.Head("Operation", "Limit", "Measured")
		for _, b := range withThroughput {
			if title, unit := operations[b.Benchmark], units[b.Unit]; title != "" && unit != "" {
				table += page.Row(title, fmt.Sprint(b.Max)+unit, number(f.get(b.Benchmark, b.Unit))+unit)
			}
		}
		return page.Replace(text, "by make bench-report", table)
	},
}

// operations are the benchmarks in the table, units the units of their results.
var (
	operations = map[string]string{
		"Lister": "read from a lister", "Parallel/goroutines=2": "the same, from 2 goroutines", "GetByKey/beyond=counting": "read by key from an indexer, beyond counting it",
		"Event/beyond=measuring-relay": "event, beyond what measuring it takes", "Memory": "memory", "Queue/reporting/ready=1000": "queue item", "Reconciler": "reconcile",
		"Scale/100000x123/exporter": "exporter, 100,000 objects of 123 resources", "APIServer": "watch events as fast as they are decoded",
		"Events": "audit log of 500 clients with 10,000 watches",
	}
	units = map[string]string{
		"ratio": " times", "median-ratio": " times", "added-ns": " ns more", "added-KiB": " KiB per informer", "B/object": " bytes per object of the exporter",
		"peak-MiB": " MiB peak", "scrape-cpu-ms": " ms CPU per scrape",
		"cpu-us/event": " µs CPU per event", "heap-MiB": " MiB",
	}
)

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
