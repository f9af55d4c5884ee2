// Command benchreport runs the benchmarks of the load figures and budgets, and writes the results into docs/benchmarks.md,
// with plots next to it. `make bench-report` runs it from the root of the repository.
//
// If a benchmark fails, its section of the page stays as it was, and the other benchmarks continue. The exit code is then 1.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/machine"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

const pagePath = "docs/benchmarks.md"

func main() {
	only := flag.String("only", "", "regular expression of the sections to write, such as B1|B3; all by default")
	output := flag.String("output", "", "file with the output of these benchmarks, instead of running them")
	flag.Parse()
	selected, err := regexp.Compile("^(" + *only + ")$")
	if err != nil {
		slog.Error("flag -only", "error", err)
		os.Exit(2)
	}
	failed := 0
	for _, s := range sections {
		if *only != "" && !selected.MatchString(s.id) {
			continue
		}
		begin := time.Now()
		if err := s.write(*output); err != nil {
			slog.Error("section kept as it was", "section", s.id, "error", err)
			failed++
			continue
		}
		slog.Info("section written", "section", s.id, "duration", time.Since(begin).Round(time.Second))
	}
	if failed > 0 {
		slog.Error("some sections are not written", "sections", failed)
		os.Exit(1)
	}
}

// section is a section of the page that is written as a whole.
type section struct {
	id, title  string
	documented string // the claim of the articles; "" for budgets
	runs       []benchmarks
	// again returns the benchmarks to repeat, at most twice, because they exceed a budget. The smallest of several values counts.
	again func(budget.Results) []benchmarks
	// measured writes Markdown that ends with a newline. All figures must come from its first argument, which records those that
	// are missing.
	measured func(*figures, *strings.Builder)
	plots    map[string]func(*figures) string // SVG images by file name in docs
}

// benchmarks selects benchmarks of a package.
type benchmarks struct{ pkg, pattern string }

// run adds the results of the benchmarks.
func (b benchmarks) run(results budget.Results) error {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", b.pattern, "-benchtime", "1x", "-timeout", "15m", "./"+b.pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", b.pattern, b.pkg, err, out[max(0, len(out)-4096):])
	}
	results.Add(withoutLogs(string(out)))
	return nil
}

// write runs the benchmarks, or reads their output from a file, and replaces the section in the page.
func (s section) write(output string) error {
	begin := time.Now()
	results := budget.Results{}
	if output != "" {
		text, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		results.Add(withoutLogs(string(text)))
	} else {
		runs := s.runs
		for attempt := 0; attempt < 3 && len(runs) > 0; attempt++ {
			for _, r := range runs {
				if err := r.run(results); err != nil {
					return err
				}
			}
			if runs = nil; s.again != nil {
				runs = s.again(results)
			}
		}
	}
	text, plots, err := s.render(results, time.Since(begin))
	if err != nil {
		return err
	}
	for name, svg := range plots {
		if err := os.WriteFile(filepath.Join(filepath.Dir(pagePath), name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(pagePath)
	if err != nil {
		return err
	}
	written, err := page.Replace(string(old), "by make bench-report: "+s.id, text)
	if err != nil {
		return err
	}
	return os.WriteFile(pagePath, []byte(written), 0o644)
}

// logLine is a line of klog or slog. It may follow the name of a benchmark, which go test prints without a new line.
var logLine = regexp.MustCompile(`(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.|time=\S+ level=)[^\n]*\n`)

func withoutLogs(output string) string { return logLine.ReplaceAllString(output, "") }

// render returns the section and its plots. It fails if a figure is missing.
func (s section) render(results budget.Results, took time.Duration) (text string, plots map[string]string, err error) {
	f := &figures{results: results}
	var t strings.Builder
	fmt.Fprintf(&t, "### %s\n\n", s.title)
	if s.documented != "" {
		fmt.Fprintf(&t, "Documented: %s.\n\n", s.documented)
	}
	s.measured(f, &t)
	t.WriteString("\n")
	plots = map[string]string{}
	for name, plot := range s.plots {
		plots[name] = plot(f)
	}
	if len(f.missing) > 0 {
		return "", nil, fmt.Errorf("not reported: %s", strings.Join(f.missing, ", "))
	}
	var names []string
	for _, r := range s.runs {
		names = append(names, fmt.Sprintf("`%s` in [%s](../%s)", strings.Trim(r.pattern, "$"), r.pkg, r.pkg))
	}
	if s.documented != "" {
		fmt.Fprintf(&t, "Benchmarks: %s", strings.Join(names, ", "))
		if took >= time.Second { // not from a file
			fmt.Fprintf(&t, ", %.0f s", took.Seconds())
		}
		t.WriteString(". ")
	}
	fmt.Fprintf(&t, "Machine: %s\n", machine.Describe())
	return t.String(), plots, nil
}

// figures are the results of the benchmarks of a section.
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

// number formats a result with about three digits, or as a whole number with thousands separators.
func (f *figures) number(benchmark, unit string) string { return number(f.get(benchmark, unit)) }

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
	}
	return fmt.Sprintf("%.2f", v)
}

// pair returns the median and the 99th percentile that a benchmark reports after a prefix.
func (f *figures) pair(benchmark, prefix, unit string) string {
	return f.number(benchmark, prefix+"-p50-"+unit) + " / " + f.number(benchmark, prefix+"-p99-"+unit) + " " + unit
}

// either returns one of two texts, so that a conclusion follows from what was measured.
func either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
