package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/generate"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// evidence is what meets a requirement.
type evidence struct {
	// metrics are those of covers. alerts have an objective for one of them, and panels read one of them.
	metrics, alerts, panels []string
	// tests have the ID in a comment.
	tests []string
	// decided reports whether docs/dev/decisions.md has the ID.
	decided bool
}

// requirementID matches IDs in comments and pages.
var requirementID = regexp.MustCompile(`\b[SPBOT][1-9][0-9]?\b`)

// Requirements returns the tables of docs/dev/requirements.md by the names of their markers. root is the root of the repository.
func Requirements(root string) (map[string]string, error) {
	found, err := findEvidence(root)
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, s := range sections {
		text := page.Head("ID", "Requirement", "Metrics and pages", "Verified by", "Alerts", "Panels", "Decision")
		for _, r := range s.rows {
			text += found[r.id].row(r)
		}
		tables[s.marker] = text
	}
	tables["summary"] = summary(found)
	return tables, nil
}

func (e *evidence) row(r requirement) string {
	var lives []string
	if len(e.metrics) > 0 {
		lives = append(lives, quoted(e.metrics))
	}
	if r.where != "" {
		lives = append(lives, r.where)
	}
	decision := ""
	if e.decided {
		decision = "[yes](decisions.md)"
	}
	return page.Row(r.id, r.text, strings.Join(lives, "; "), strings.Join(e.tests, ", "), strings.Join(e.alerts, ", "), firsts(e.panels), decision)
}

// firsts returns the first panel of each dashboard, the last two of them. Panels have the form "dashboard: panel".
func firsts(panels []string) string {
	var list []string
	for _, p := range panels {
		dashboard, _, _ := strings.Cut(p, ": ")
		if !slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, dashboard+": ") }) {
			list = append(list, p)
		}
	}
	return strings.Join(list[max(0, len(list)-2):], "; ")
}

func quoted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

func summary(found map[string]*evidence) string {
	count := func(has func(*evidence) bool) (n int) {
		for _, e := range found {
			if has(e) {
				n++
			}
		}
		return n
	}
	text := fmt.Sprintf("Of %d IDs, %d have a test, %d a metric, %d a panel, %d an alert and %d an entry in [Decisions](decisions.md).",
		len(found),
		count(func(e *evidence) bool { return len(e.tests) > 0 }), count(func(e *evidence) bool { return len(e.metrics) > 0 }),
		count(func(e *evidence) bool { return len(e.panels) > 0 }), count(func(e *evidence) bool { return len(e.alerts) > 0 }),
		count(func(e *evidence) bool { return e.decided }))
	by := map[state][]string{}
	for _, s := range sections {
		for _, r := range s.rows {
			at := found[r.id].state(r)
			by[at] = append(by[at], r.id)
		}
	}
	return text + fmt.Sprintf(" Without an alert, on a panel: %s. On a page, by a benchmark or by a decision: %s. Open: %s.",
		list(by[shown]), list(by[described]), list(by[unmet]))
}

// state is how a reader learns of what a requirement is about.
type state int

const (
	unmet     state = iota // nothing verifies it, or nothing shows it
	fires                  // an alert
	shown                  // a panel
	described              // a page, a benchmark or a decision
)

// state returns the first of an alert, a panel and a text, of a requirement that a test verifies.
func (e *evidence) state(r requirement) state {
	switch {
	case len(e.tests) == 0:
		return unmet
	case len(e.alerts) > 0:
		return fires
	case len(e.panels) > 0:
		return shown
	case r.where != "" || e.decided || strings.HasPrefix(r.id, "B"):
		return described
	}
	return unmet
}

func list(ids []string) string { return cmp.Or(strings.Join(ids, ", "), "none") }

func findEvidence(root string) (map[string]*evidence, error) {
	found := map[string]*evidence{}
	for _, s := range sections {
		for _, r := range s.rows {
			found[r.id] = &evidence{}
		}
	}
	boards, err := dashboards.All(dashboards.Config{})
	if err != nil {
		return nil, err
	}
	panels, err := generate.Panels(alerts.Rules(alerts.Config{}), boards)
	if err != nil {
		return nil, err
	}
	tests, err := readTests(root)
	if err != nil {
		return nil, err
	}
	for _, m := range catalog.All() {
		for _, id := range strings.Fields(covers[m.Name]) {
			e := found[id]
			if e == nil {
				return nil, fmt.Errorf("%s covers %s, which is not a requirement", m.Name, id)
			}
			e.metrics = append(e.metrics, m.Name)
			e.panels = merge(e.panels, panels[m.Name])
		}
	}
	for _, a := range alerts.All() {
		for _, id := range strings.Fields(covers[a.Objective.Metric.Name]) {
			found[id].alerts = append(found[id].alerts, a.Name)
		}
	}
	for id, tests := range tests {
		if e := found[id]; e != nil {
			e.tests = tests
		}
	}
	decisions, err := os.ReadFile(filepath.Join(root, "docs/dev/decisions.md"))
	if err != nil {
		return nil, err
	}
	for _, id := range requirementID.FindAllString(string(decisions), -1) {
		if e := found[id]; e != nil {
			e.decided = true
		}
	}
	return found, nil
}

func merge(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// readTests returns the tests with an ID in a comment, by ID.
func readTests(root string) (map[string][]string, error) {
	tests := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		addTests(tests, parsed)
		return nil
	})
	for _, list := range tests {
		slices.Sort(list)
	}
	return tests, err
}

var testFuncName = regexp.MustCompile(`^(Test|Benchmark|Example|Fuzz)[A-Z]`)

// addTests adds the tests of a file by the IDs in their comments.
func addTests(tests map[string][]string, file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !testFuncName.MatchString(f.Name.Name) {
			continue
		}
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		for _, group := range file.Comments {
			if group.Pos() < from || group.End() > f.End() {
				continue
			}
			for _, id := range requirementID.FindAllString(group.Text(), -1) {
				tests[id] = merge(tests[id], []string{f.Name.Name})
			}
		}
	}
}
