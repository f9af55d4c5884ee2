package chaos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// evidence records the claims that tests have verified.
type evidence struct {
	sync.Mutex
	shown, kept map[string][]string // claims by test
}

var record = evidence{shown: map[string][]string{}, kept: map[string][]string{}}

// showed records that a test has verified claims, keptUp that they held throughout a fault.
func (e *evidence) showed(t *testing.T, claims []string) { e.add(e.shown, t, claims) }
func (e *evidence) keptUp(t *testing.T, claims []string) { e.add(e.kept, t, claims) }

func (e *evidence) add(to map[string][]string, t *testing.T, claims []string) {
	e.Lock()
	defer e.Unlock()
	to[t.Name()] = append(to[t.Name()], claims...)
}

var quoted = regexp.MustCompile("`([^`]+)`")

// claimsOf returns the claims in a text, in the form in which tests write them.
func claimsOf(text string) (claims []string) {
	for _, m := range quoted.FindAllStringSubmatch(page.Quote(text), -1) {
		claims = append(claims, m[1])
	}
	return claims
}

// row marks a test as the proof of a row and lets it run in parallel. At its end, the test fails if the row has a claim
// that it has not verified.
func row(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		at := slices.IndexFunc(Rows, func(r Row) bool { return r.Test == t.Name() })
		if at < 0 {
			return // TestEveryFaultHasARow fails
		}
		record.Lock()
		defer record.Unlock()
		kept := record.kept[t.Name()]
		all := slices.Concat(record.shown[t.Name()], kept)
		for _, c := range claimsOf(Rows[at].Reports + Rows[at].Recovery) {
			if !slices.Contains(all, c) {
				t.Errorf("rows.go claims %s, which this test does not show", c)
			}
		}
		for _, c := range claimsOf(Rows[at].Meanwhile) {
			if !slices.Contains(kept, c) {
				t.Errorf("rows.go claims that %s holds meanwhile, which this test does not show", c)
			}
		}
	})
	t.Parallel()
}

// TestEveryFaultHasARow compares the rows with the tests.
func TestEveryFaultHasARow(t *testing.T) {
	var rowed []string
	for _, r := range Rows {
		rowed = append(rowed, r.Test)
		parsed(t, claimsOf(r.Reports+r.Meanwhile+r.Recovery))
		if len(claimsOf(r.Reports)) == 0 || len(claimsOf(r.Meanwhile)) == 0 {
			t.Errorf("%s: the row claims nothing about a metric", r.Test)
		}
	}
	parsed(t, Healthy)
	slices.Sort(rowed)
	if tests := faultTests(t); !slices.Equal(rowed, tests) {
		t.Errorf("rows for\n%v\nand tests of faults\n%v", rowed, tests)
	}
}

// faultTests returns the tests of this package that inject a fault.
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
