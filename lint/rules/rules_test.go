package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/informer-exporter/informer-exporter/lint/rules"
)

// Each package with an analyzer is listed, and has a section in docs/lint.md.
func TestAll(t *testing.T) {
	var listed []string
	for _, rule := range rules.All() {
		listed = append(listed, rule.Name)
	}
	if err := analysis.Validate(rules.All()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for _, entry := range entries {
		if _, err := os.Stat("../" + entry.Name() + "/" + entry.Name() + ".go"); err == nil && entry.Name() != "plugin" && entry.Name() != "rules" {
			packages = append(packages, entry.Name())
		}
	}
	if !slices.Equal(listed, packages) || len(packages) < 10 {
		t.Errorf("the rules are %v, want %v", listed, packages)
	}
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range listed {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/lint.md has no row of %s", name)
		}
	}
}

// TestRules compares the findings of each rule with the comments in the package below lint/testdata that has its name, and the
// suggested fixes with its golden files. The documentation must show wrong and right code.
func TestRules(t *testing.T) {
	testdata, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules.All() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			run := analysistest.Run
			if golden, _ := filepath.Glob(filepath.Join(testdata, "src", rule.Name, "*.golden")); len(golden) > 0 {
				run = analysistest.RunWithSuggestedFixes
			}
			run(t, testdata, rule, rule.Name+"/...")
			wrong, right := strings.Index(rule.Doc, "\nWrong:\n"), strings.Index(rule.Doc, "\nRight:\n")
			if wrong < 0 || right < wrong {
				t.Error("the documentation has no wrong and right code")
			}
		})
	}
}

func TestNolint(t *testing.T) {
	testdata, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules.All() {
		if rule.Name == "syncignored" {
			analysistest.Run(t, testdata, rule, "nolint")
		}
	}
}
