// Command benchreport runs the benchmarks of the budgets and of the load figures, and writes the results into
// docs/benchmarks.md, docs/audit-log.md and docs/dev/decisions.md. `make bench-report` runs it from the root of the repository.
//
// If a benchmark fails, its figures stay as they were, and the other benchmarks continue. The exit code is then 1.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

func main() {
	only := flag.String("only", "", "regular expression of the parts to write, such as budgets|B1; all by default")
	output := flag.String("output", "", "file with the output of these benchmarks, instead of running them")
	flag.Parse()
	selected, err := regexp.Compile("^(" + *only + ")$")
	if err != nil {
		slog.Error("flag -only", "error", err)
		os.Exit(2)
	}
	failed := 0
	for _, p := range parts {
		if *only != "" && !selected.MatchString(p.id) {
			continue
		}
		begin := time.Now()
		if err := p.write(*output); err != nil {
			slog.Error("figures kept as they were", "part", p.id, "error", err)
			failed++
			continue
		}
		slog.Info("figures written", "part", p.id, "duration", time.Since(begin).Round(time.Second))
	}
	if failed > 0 {
		slog.Error("some figures are not written", "parts", failed)
		os.Exit(1)
	}
}

// parts are the parts of pages that this command owns.
var parts = append([]part{budgets, policy}, loads...)

// part is a part of a page.
type part struct {
	id, page string
	runs     []benchmarks
	// again returns the benchmarks to repeat, at most twice, because they exceed a budget. The smallest of several values counts.
	again func(budget.Results) []benchmarks
	// render returns the page with new figures.
	render func(page string, f *figures) (string, error)
}

// benchmarks selects benchmarks of a package.
type benchmarks struct{ pkg, pattern string }

// write runs the benchmarks, or reads their output from a file, and updates the page. The page stays as it was if a figure is
// missing.
func (p part) write(output string) error {
	results := budget.Results{}
	runs := p.runs
	if output != "" {
		text, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		results.Add(string(text))
		runs = nil
	}
	for attempt := 0; attempt < 3 && len(runs) > 0; attempt++ {
		for _, r := range runs {
			if err := results.Run(r.pkg, r.pattern); err != nil {
				return err
			}
		}
		if runs = nil; p.again != nil {
			runs = p.again(results)
		}
	}
	old, err := os.ReadFile(p.page)
	if err != nil {
		return err
	}
	f := &figures{results: results}
	text, err := p.render(string(old), f)
	if err != nil {
		return err
	}
	if len(f.missing) > 0 {
		return fmt.Errorf("not reported: %s", strings.Join(f.missing, ", "))
	}
	return os.WriteFile(p.page, []byte(text), 0o644)
}

// figures are the results of the benchmarks of a part.
type figures struct {
	results budget.Results
	missing []string
}

// get returns a result of a benchmark, and notes if it is missing.
func (f *figures) get(benchmark, unit string) float64 {
	v, found := f.results[[2]string{benchmark, unit}]
	if !found {
		f.missing = append(f.missing, benchmark+" "+unit)
	}
	return v
}

// list formats several results of a benchmark, separated by slashes.
func (f *figures) list(benchmark string, units ...string) string {
	for i, unit := range units {
		units[i] = number(f.get(benchmark, unit))
	}
	return strings.Join(units, " / ")
}

// number formats a number with about three digits, or as a whole number with thousands separators.
func number(v float64) string {
	switch {
	case v == 0:
		return "0" // also for -0
	case v < 0:
		return "-" + number(-v)
	case v >= 1000:
		whole := fmt.Sprintf("%.0f", v)
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
		return whole
	case v >= 100, v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= .01:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
