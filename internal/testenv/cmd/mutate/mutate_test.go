package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// changes returns the changed lines of all mutants of a file.
func changes(t *testing.T, source string) (all []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	mutants, err := mutantsOf(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		_, after := m.lines()
		all = append(all, after)
	}
	return all
}

func TestMutants(t *testing.T) {
	const function = "package a\n\nfunc f(a, b int) bool {\n\t"
	for line, want := range map[string][]string{
		"if a < b {}":           {"if !(a < b) {}", "if a <= b {}"},
		"x = a - 1":             {"_ = a - 1", "x = a + 1", "x = a - 2"},
		"g(a, b)":               {"", "g(b, a)"},
		"return min(a, b) == a": {"return min(a, b) != a"},
		"x := sets.New(a, b)":   nil,
		"log.Info(a)":           nil,
		"c.logger().Debug(a)":   nil,
		"s.Logger.Warn(a, b)":   {"s.Logger.Warn(b, a)"},
		"backlog.Info(a)":       {""},
		"h.logPanic(a)":         {""},
		"defer unlock()":        {""},
		"a++":                   {"a--"},
		"return true":           {"return false"},
		"x := header{id: 7}":    nil, // any number that no other panel has
		"p(`max by (@cluster, name) (rate(x_total{@, a=\"b\"}[5m])) > 0`)": {
			"", // without the statement
			"p(`max by (@cluster, name) (rate(x_total{@, a=\"b\"}[11m])) > 0`)",
			"p(`max by (@cluster, name) (rate(x_total{@, a=\"b\"}[5m])) > 1`)",
			"p(`min by (@cluster, name) (rate(x_total{@, a=\"b\"}[5m])) > 0`)",
			"p(`max by (@cluster, name) (increase(x_total{@, a=\"b\"}[5m])) > 0`)",
			"p(`max by (@cluster, name) (rate(x_total{@, a=\"b\"}[5m])) >= 0`)",
			"p(`max by (@cluster, name) (rate(x_total{@, a!=\"b\"}[5m])) > 0`)",
			"p(`max by (name) (rate(x_total{@, a=\"b\"}[5m])) > 0`)",
			"p(`max by (@cluster) (rate(x_total{@, a=\"b\"}[5m])) > 0`)",
		},
		"p(`histogram_quantile(0.99, x)`)": {""}, // no selector: not a query
		"p(\"in 5 minutes or more\")":      {""},
	} {
		got := changes(t, function+line+"\n}\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\nis changed to\n%s\nwant\n%s", line, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Queries in embedded files are changed, and no other text.
func TestQueryMutants(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"a.yaml", "rules:\n  # or sum(b) > 1\n  - alert: A\n    expr: |-\n      a{@}\n      or\n      b\n    annotations:\n      summary: a and b\n", "a.yaml:6\n  - or\n  + and"},
		{"a.md", "# A\n\nOne and two, `a{@} or b`.\n\n1. One or two.\n   ```promql\n   a{@} or b\n   ```\n", "a.md:7\n  - a{@} or b\n  + a{@} and b"},
	} {
		if all := embeddedMutants(tt.name, []byte(tt.source)); len(all) != 1 || all[0].String() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, all, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	const begin, end = "# Page\n\n<!-- BEGIN GENERATED mutations -->\n", "<!-- END GENERATED mutations -->\nafter\n"
	if err := os.WriteFile(file, []byte(begin+end), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]string{{"b", "7/8"}, {"a", "3/3"}, {"b", "8/8"}} {
		if err := update(file, s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if want := begin + "\n| Package | Killed |\n|---|---|\n| `a` | 3/3 |\n| `b` | 8/8 |\n\n" + end; err != nil || string(page) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", page, want, err)
	}
	if err := os.WriteFile(file, []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := update(file, "a", "3/3"); err == nil {
		t.Error("no error for a page without a table")
	}
}

// A mutant survives if no test fails for it. Mutants that make the tests hang have a separate result.
func TestRunner(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package several times")
	}
	const hangs = "func Hang(a int) { for a < 1 { a-- } }"
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"m.go":      "package m\n\nfunc Tested(a int) bool { return a < 2 }\n\nfunc Hang(a int) { for a < 1 { a++ } }\n\nfunc Untested(a int) bool { return a < 2 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n\tif !Tested(1) || Tested(3) { t.Fatal() }\n\tHang(0)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	p, err := load(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	mutants, err := mutantsOf(p.files[0])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]result{}
	generous := r.limits[0]
	for _, m := range mutants {
		_, after := m.lines()
		r.limits[0] = generous
		if after == hangs {
			r.limits[0] = 100 * time.Millisecond // the mutant never returns, however slow the machine is
		}
		got[after] = r.try(t.Context(), m)
	}
	for line, want := range map[string]result{
		"func Tested(a int) bool { return a <= 2 }":   survived,
		"func Tested(a int) bool { return a < 3 }":    survived,
		"func Untested(a int) bool { return a <= 2 }": survived,
		hangs: timedOut,
	} {
		if got[line] != want {
			t.Errorf("%s: %s, want %s", line, got[line], want)
		}
	}
}
