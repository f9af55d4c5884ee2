package collectors_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

func packageComment(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file.Doc.Text()
}

// TestPackageCommentNamesPackages compares the table of packages with the directories below this one.
func TestPackageCommentNamesPackages(t *testing.T) {
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^\t([a-z]+)  `).FindAllStringSubmatch(packageComment(t), -1) {
		named = append(named, m[1])
	}
	var existing []string
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains([]string{"catalog", "internal", "testdata"}, e.Name()) {
			existing = append(existing, e.Name())
		}
	}
	if slices.Sort(named); !slices.Equal(named, existing) {
		t.Errorf("doc.go names the packages %v, want %v", named, existing)
	}
}

// TestPackageCommentNamesBudgets verifies that each figure in the section on cost is a budget.
func TestPackageCommentNamesBudgets(t *testing.T) {
	budgets := []string{}
	for _, b := range budget.Budgets {
		budgets = append(budgets, fmt.Sprintf("%.2f", b.Max), fmt.Sprintf("%v ns", b.Max), fmt.Sprintf("%v KiB", b.Max))
	}
	_, cost, found := strings.Cut(packageComment(t), "# Cost")
	figures := regexp.MustCompile(`\d[\d.]*( to \d+)? (ns|µs|KiB)|\d\.\d\d`).FindAllString(cost, -1)
	if !found || len(figures) < 5 {
		t.Fatalf("the section on cost has the figures %q", figures)
	}
	for _, figure := range figures {
		if !slices.Contains(budgets, figure) {
			t.Errorf("%q is not a budget", figure)
		}
	}
}

// TestMethodsOfObserver keeps decorators out of the Observer: they are functions of the packages below.
func TestMethodsOfObserver(t *testing.T) {
	if n := reflect.TypeFor[*collectors.Observer]().NumMethod(); n > 10 {
		t.Errorf("*Observer has %d methods, want at most 10", n)
	}
}
