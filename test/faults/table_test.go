package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// TestEveryFaultHasARow compares the rows with the tests, the alerts and the metrics that exist. Each test verifies the
// claims of its row; see fault.
func TestEveryFaultHasARow(t *testing.T) {
	var rowed []string
	for _, row := range Rows() {
		rowed = append(rowed, row.Test)
		claims := claimsOf(row)
		if len(claims) == 0 {
			t.Errorf("%s: the row claims nothing about a metric", row.Test)
		}
		for _, c := range claims {
			checkClaim(t, row, c)
		}
		checkAlerts(t, row, claims)
	}
	slices.Sort(rowed)
	if tests := faultTests(t); !slices.Equal(rowed, tests) {
		t.Errorf("rows for\n%v\nand tests of faults\n%v", rowed, tests)
	}
}

func checkClaim(t *testing.T, row Row, c claim) {
	t.Helper()
	m, ok := metric(c.metric)
	if !ok {
		t.Errorf("%s: unknown metric %s", row.Test, c.metric)
		return
	}
	for _, pair := range c.labels {
		name, value, _ := strings.Cut(pair, "=")
		at := slices.IndexFunc(m.Labels, func(l catalog.Label) bool { return l.Name == name })
		if at < 0 || len(m.Labels[at].Values) > 0 && !slices.Contains(m.Labels[at].Values, value) {
			t.Errorf("%s: %s has no %s", row.Test, c.metric, pair)
		}
	}
}

// checkAlerts fails unless the row has a claim about the metric of each of its alerts. Metrics that the exporter reports
// about itself are tested in test/e2e.
func checkAlerts(t *testing.T, row Row, claims []claim) {
	t.Helper()
	for _, name := range slices.Concat(row.Meanwhile(), row.Afterwards()) {
		alert, ok := alerts.ByName(name)
		if !ok {
			t.Errorf("%s: unknown alert %s", row.Test, name)
			continue
		}
		looksAt := alert.Objective.Metric.Name
		if !strings.HasPrefix(looksAt, prefix) {
			continue
		}
		if !slices.ContainsFunc(claims, func(c claim) bool { return c.metric == looksAt && c.kind != unchanged }) {
			t.Errorf("%s: %s reads %s, which the row does not claim", row.Test, name, looksAt)
		}
	}
}

// noFaults are the tests without a row.
var noFaults = []string{"TestMain", "TestStress", "TestEveryFaultHasARow", "TestLimitsOfTheAuditLog"}

// faultTests returns the tests of this package that inject a fault.
func faultTests(t *testing.T) []string {
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
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || slices.Contains(noFaults, f.Name.Name) {
				continue
			}
			names = append(names, f.Name.Name)
			if !callsFirst(f, "fault", "proof") {
				t.Errorf("%s does not begin with fault(t)", f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// callsFirst reports whether a function begins with a call of one of the functions.
func callsFirst(f *ast.FuncDecl, functions ...string) bool {
	first, ok := f.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := first.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && slices.Contains(functions, name.Name)
}
