package chaos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// evidence is what tests have shown.
type evidence struct {
	sync.Mutex
	shown, kept map[string][]string // claims by test
}

var record = evidence{shown: map[string][]string{}, kept: map[string][]string{}}

// showed takes down that a test has shown claims, or has shown that they held all the while.
func (e *evidence) showed(t *testing.T, claims []string) { e.add(e.shown, t, claims) }
func (e *evidence) keptUp(t *testing.T, claims []string) { e.add(e.kept, t, claims) }

func (e *evidence) add(to map[string][]string, t *testing.T, claims []string) {
	e.Lock()
	defer e.Unlock()
	to[t.Name()] = append(to[t.Name()], claims...)
}

// tableRow is a row of docs/chaos.md.
type tableRow struct{ says, keeps, after, test string }

var quoted = regexp.MustCompile("`([^`]+)`")

// claimsOf returns what a cell has in backquotes.
func claimsOf(cell string) (claims []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		claims = append(claims, m[1])
	}
	return claims
}

func table(t *testing.T) (rows []tableRow, intro string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "chaos.md"))
	if err != nil {
		t.Fatal(err)
	}
	intro, rest, _ := strings.Cut(string(content), "| Fault |")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| What") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 5 {
			continue // the rest of the head
		}
		test, _, _ := strings.Cut(strings.TrimSpace(cells[4]), " ")
		rows = append(rows, tableRow{cells[1], cells[2], cells[3], test})
	}
	return rows, intro
}

// row marks a test as the proof of a row of docs/chaos.md, and lets it run beside others. Once it is over, the test fails if
// the row says something that it has not shown.
func row(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		rows, _ := table(t)
		at := slices.IndexFunc(rows, func(r tableRow) bool { return r.test == t.Name() })
		if at < 0 {
			return // TestEveryFaultHasARow says so
		}
		record.Lock()
		defer record.Unlock()
		kept := record.kept[t.Name()]
		all := slices.Concat(record.shown[t.Name()], kept)
		for _, c := range claimsOf(rows[at].says + rows[at].after) {
			if !slices.Contains(all, c) {
				t.Errorf("docs/chaos.md says %s, which this test does not show", c)
			}
		}
		for _, c := range claimsOf(rows[at].keeps) {
			if !slices.Contains(kept, c) {
				t.Errorf("docs/chaos.md says that %s all the while, which this test does not show", c)
			}
		}
	})
	t.Parallel()
}

// TestEveryFaultHasARow compares docs/chaos.md with the tests, and with what they take for health.
func TestEveryFaultHasARow(t *testing.T) {
	rows, intro := table(t)
	var rowed []string
	for _, r := range rows {
		rowed = append(rowed, r.test)
		parsed(t, claimsOf(r.says+r.keeps+r.after))
		if len(claimsOf(r.says)) == 0 || len(claimsOf(r.keeps)) == 0 {
			t.Errorf("%s: the row says nothing about a metric", r.test)
		}
	}
	slices.Sort(rowed)
	if tests := faultTests(t); !slices.Equal(rowed, tests) {
		t.Errorf("there are rows for\n%v\nand tests of faults\n%v", rowed, tests)
	}
	_, well, _ := strings.Cut(intro, "all is well:")
	well, _, _ = strings.Cut(well, ", and each")
	if got := claimsOf(well); !slices.Equal(got, healthy) {
		t.Errorf("docs/chaos.md takes for health\n%v\nand the tests\n%v", got, healthy)
	}
}

// faultTests returns the tests of this package that are about a fault.
func faultTests(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && strings.HasPrefix(f.Name.Name, "Test") && !slices.Contains([]string{"TestMain", "TestEveryFaultHasARow", "TestClaims"}, f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
