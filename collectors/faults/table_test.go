//go:build faults

package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// noFaults are the tests that no row is about.
var noFaults = []string{"TestMain", "TestStress", "TestEveryFaultHasARow"}

// TestEveryFaultHasARow compares docs/faults.md with the tests, the alerts and the metrics that there are.
func TestEveryFaultHasARow(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	var rows []string
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Fault |") {
			continue
		}
		if len(cells) != 4 {
			t.Errorf("%d cells instead of 4 in: %s", len(cells), line)
			continue
		}
		says, alert, test := cells[1], cells[2], strings.TrimSpace(cells[3])
		rows = append(rows, test)
		if !slices.Contains(tests, test) {
			t.Errorf("no test is called %q, as a row says", test)
		}
		names := regexp.MustCompile(`Informer[A-Za-z]+`).FindAllString(alert, -1)
		if len(names) == 0 && alert != "none" {
			t.Errorf("%s: the alert is %q; give names, or none", test, alert)
		}
		for _, name := range names {
			if _, ok := alerts.ByName(name); !ok {
				t.Errorf("%s: there is no alert %s", test, name)
			}
		}
		for _, code := range regexp.MustCompile("`([a-z_]+)[`{]").FindAllStringSubmatch(says, -1) {
			if strings.Contains(code[1], "_") && code[1] != "error_type" && code[1] != "server_close" && !isMetric("k8s_informer_"+code[1]) {
				t.Errorf("%s: there is no metric k8s_informer_%s", test, code[1])
			}
		}
	}
	for _, test := range tests {
		if n := len(slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row != test })); n != 1 {
			t.Errorf("docs/faults.md has %d rows for %s", n, test)
		}
	}
}

func isMetric(name string) bool {
	return slices.ContainsFunc(catalog.All(), func(m catalog.Metric) bool { return m.Name == name })
}

// testNames returns the tests of this package that are about a fault.
func testNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && !slices.Contains(noFaults, f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("no tests found")
	}
	return names
}
