package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

const root = "../../../.."

// anything returns results with every figure that a part asks for.
func anything(t *testing.T, p part, text string) budget.Results {
	t.Helper()
	results := budget.Results{}
	f := &figures{results: results}
	if _, err := p.render(text, f); err != nil {
		t.Fatalf("%s: %v", p.id, err)
	}
	for i, key := range f.missing {
		benchmark, unit, _ := strings.Cut(key, " ")
		results[[2]string{benchmark, unit}] = float64(i) + .5
	}
	return results
}

func TestParts(t *testing.T) {
	for _, p := range parts {
		raw, err := os.ReadFile(filepath.Join(root, p.page))
		if err != nil {
			t.Fatal(err)
		}
		f := &figures{results: anything(t, p, string(raw))}
		text, err := p.render(string(raw), f)
		if err != nil || len(f.missing) > 0 {
			t.Errorf("%s: %v, missing %v", p.id, err, f.missing)
		}
		if len(f.results) == 0 || strings.Count(text, "\n") != strings.Count(string(raw), "\n") {
			t.Errorf("%s: the page has another number of lines:\n%s", p.id, text)
		}
		for _, unwanted := range []string{"NaN", "+Inf", "%!"} {
			if strings.Contains(text, unwanted) {
				t.Errorf("%s has %q:\n%s", p.id, unwanted, text)
			}
		}
		for _, r := range p.runs {
			found := false
			files, err := filepath.Glob(filepath.Join(root, r.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			name := regexp.MustCompile(`^\W*(?:Benchmark)?(\w+)`).FindStringSubmatch(r.pattern)[1]
			for _, file := range files {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(source), "func Benchmark"+name+"(")
			}
			if !found {
				t.Errorf("%s: %s has no benchmark %s", p.id, r.pkg, name)
			}
		}
	}
}

// The page stays as it was if a benchmark has failed.
func TestPageIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	p := load("B4", "documented", func(f *figures) string { return f.list("Namespaces", "one-MiB", "memory-ratio") })
	const old = "| B4 | documented | old |\n"
	output := "BenchmarkNamespaces-2 1 2.5 one-MiB\n--- FAIL: BenchmarkNamespaces\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(p.page), 0o755), os.WriteFile(p.page, []byte(old), 0o644), os.WriteFile("output", []byte(output), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := p.write("output"); err == nil || !strings.Contains(err.Error(), "Namespaces memory-ratio") {
		t.Errorf("error %v, want the missing figure", err)
	}
	if text, err := os.ReadFile(p.page); err != nil || string(text) != old {
		t.Errorf("%v, the page is now\n%s", err, text)
	}
	if err := os.WriteFile("output", []byte(strings.Replace(output, "one-MiB", "one-MiB 3 memory-ratio", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.write("output"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(p.page); err != nil || string(text) != "| B4 | documented | 2.50 / 3 |\n" {
		t.Errorf("%v, the page is now\n%s", err, text)
	}
}

// Only benchmarks that exceed a budget are repeated.
func TestBudgetsAgain(t *testing.T) {
	results := budget.Results{}
	for _, b := range withThroughput {
		results[[2]string{b.Benchmark, b.Unit}] = b.Max
	}
	if again := budgets.again(results); len(again) > 0 {
		t.Errorf("repeats %v", again)
	}
	results[[2]string{"Event/beyond=measuring-relay", "added-ns"}]++
	if again := budgets.again(results); len(again) != 1 || again[0].pattern != "^BenchmarkEvent$/^beyond=measuring-relay$" {
		t.Errorf("repeats %v", again)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 1.5: "1.50", .1234: "0.12", .0025: "0.0025", 12.34: "12.3", 123.4: "123", 1234.5: "1,234", 8598382: "8,598,382", -12.34: "-12.3"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
