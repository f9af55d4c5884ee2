// Package rulestest tests a rule with the package below lint/testdata that has its name.
package rulestest

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Run compares the findings of a rule with the comments, and its suggested fixes with the golden files. Its documentation must
// show wrong and right code.
func Run(t *testing.T, rule *analysis.Analyzer) {
	t.Helper()
	dir, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	run := analysistest.Run
	if golden, _ := filepath.Glob(filepath.Join(dir, "src", rule.Name, "*.golden")); len(golden) > 0 {
		run = analysistest.RunWithSuggestedFixes
	}
	run(t, dir, rule, rule.Name+"/...")
	wrong, right := strings.Index(rule.Doc, "\nWrong:\n"), strings.Index(rule.Doc, "\nRight:\n")
	if wrong < 0 || right < wrong {
		t.Error("the documentation has no wrong and right code")
	}
}
