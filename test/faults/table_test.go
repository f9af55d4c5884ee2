package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// TestEveryFaultHasARow compares docs/faults.md with the tests, the alerts and the metrics that there are. What it says
// about the metrics is compared with what the tests show by themselves; see fault.
func TestEveryFaultHasARow(t *testing.T) {
	var rowed []string
	for _, row := range rows(t) {
		rowed = append(rowed, row.test)
		claims := row.claims()
		if len(claims) == 0 {
			t.Errorf("%s: the row says nothing about a metric", row.test)
		}
		for _, c := range claims {
			checkClaim(t, row, c)
		}
		checkAlerts(t, row, claims)
	}
	slices.Sort(rowed)
	if tests := faultTests(t); !slices.Equal(rowed, tests) {
		t.Errorf("there are rows for\n%v\nand tests of faults\n%v", rowed, tests)
	}
}

func checkClaim(t *testing.T, row row, c claim) {
	t.Helper()
	m, ok := metric(c.metric)
	if !ok {
		t.Errorf("%s: there is no metric %s", row.test, c.metric)
		return
	}
	for _, pair := range c.labels {
		name, value, _ := strings.Cut(pair, "=")
		at := slices.IndexFunc(m.Labels, func(l catalog.Label) bool { return l.Name == name })
		if at < 0 || len(m.Labels[at].Values) > 0 && !slices.Contains(m.Labels[at].Values, value) {
			t.Errorf("%s: %s has no %s", row.test, c.metric, pair)
		}
	}
}

// checkAlerts fails unless the row says something about the metric that each of its alerts looks at. What the exporter
// says about itself no informer of these tests can show: test/e2e holds those alerts.
func checkAlerts(t *testing.T, row row, claims []claim) {
	t.Helper()
	names := regexp.MustCompile(`Informer[A-Za-z]+`).FindAllString(row.alert, -1)
	if len(names) == 0 && row.alert != "none" {
		t.Errorf("%s: the alert is %q; give names, or none", row.test, row.alert)
	}
	for _, name := range names {
		alert, ok := alerts.ByName(name)
		if !ok {
			t.Errorf("%s: there is no alert %s", row.test, name)
			continue
		}
		looksAt := alert.Objective.Metric.Name
		if !strings.HasPrefix(looksAt, prefix) {
			continue
		}
		if !slices.ContainsFunc(claims, func(c claim) bool { return c.metric == looksAt && c.kind != unchanged }) {
			t.Errorf("%s: %s looks at %s, about which the row says nothing", row.test, name, looksAt)
		}
	}
}

// noFaults are the tests that no row is about.
var noFaults = []string{"TestMain", "TestStress", "TestEveryFaultHasARow"}

// faultTests returns the tests of this package that are about a fault.
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
				t.Errorf("%s does not begin with fault(t): nothing compares its row with what it shows", f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// callsFirst tells whether a function begins with a call of one of the functions.
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
