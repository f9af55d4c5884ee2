package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// evidence is what meets a requirement.
type evidence struct {
	// metrics cover the ID in the catalog. packages have the code that reports them, alerts have an objective for one of them, and
	// panels read one of them.
	metrics, packages, alerts, panels []string
	// tests have the ID in a comment.
	tests []string
	// decided reports whether docs/dev/decisions.md has the ID.
	decided bool
}

// requirementID matches IDs in comments and pages.
var requirementID = regexp.MustCompile(`\b[SPBOT][1-9][0-9]?\b`)

// Requirements returns the tables of docs/requirements.md by the names of their markers. root is the root of the repository.
func Requirements(root string) (map[string]string, error) {
	found, err := findEvidence(root)
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, s := range sections {
		text := page.Head("ID", "Requirement", "Metrics and packages", "Verified by", "Alerts", "Panels", "Decision")
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
		lives = append(lives, quoted(e.metrics)+" of "+quoted(e.packages))
	}
	if r.where != "" {
		lives = append(lives, r.where)
	}
	decision := ""
	if e.decided {
		decision = "[yes](decisions.md)"
	}
	return page.Row(r.id, r.text, strings.Join(lives, "; "), strings.Join(e.tests, ", "), strings.Join(e.alerts, ", "), byDashboard(e.panels), decision)
}

// byDashboard groups panels, which have the form "dashboard: panel", by their dashboards.
func byDashboard(panels []string) string {
	var order []string
	titles := map[string][]string{}
	for _, p := range panels {
		dashboard, title, _ := strings.Cut(p, ": ")
		order = merge(order, []string{dashboard})
		titles[dashboard] = append(titles[dashboard], title)
	}
	for i, dashboard := range order {
		order[i] = dashboard + ": " + strings.Join(titles[dashboard], ", ")
	}
	return strings.Join(order, "; ")
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
	return text + fmt.Sprintf(" A rule fires for %d. On a panel only: %s. On a page, by a benchmark or by a decision: %s. Open: %s.",
		len(by[fires]), list(by[shown]), list(by[described]), list(by[unmet]))
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
	panels, err := panelsByMetric()
	if err != nil {
		return nil, err
	}
	source, err := readSource(root)
	if err != nil {
		return nil, err
	}
	for _, m := range catalog.All() {
		for _, id := range m.Covers {
			e := found[id]
			if e == nil {
				return nil, fmt.Errorf("%s covers %s, which is not a requirement", m.Name, id)
			}
			e.metrics = append(e.metrics, m.Name)
			e.packages = merge(e.packages, source.reporters[m.Name])
			e.panels = merge(e.panels, panels[m.Name])
		}
	}
	for _, a := range alerts.All() {
		for _, id := range a.Objective.Metric.Covers {
			found[id].alerts = append(found[id].alerts, a.Name)
		}
	}
	for id, tests := range source.tests {
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

// panelsByMetric returns the panels that read each metric, directly or through a recording rule.
func panelsByMetric() (map[string][]string, error) {
	recorded := map[string]string{}
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			// The prefix is that of records about jobs, alerts and the exporter itself, which say nothing about a single metric.
			if r.Record != "" && !strings.HasPrefix(r.Record, "cluster:informer_exporter_") {
				recorded[r.Record] += " " + r.Expr
			}
		}
	}
	boards, err := dashboards.All(dashboards.Config{})
	if err != nil {
		return nil, err
	}
	type panel struct {
		Title   string
		Targets []struct{ Expr string }
	}
	all := map[string][]string{}
	for _, d := range boards {
		var model struct {
			Panels []struct {
				panel
				Panels []panel
			}
		}
		if err := json.Unmarshal(d.JSON, &model); err != nil {
			return nil, err
		}
		titles := map[string][]string{}
		for _, p := range model.Panels {
			for _, p := range append([]panel{p.panel}, p.Panels...) {
				for _, target := range p.Targets {
					for _, name := range metricsIn(target.Expr, recorded) {
						titles[name] = merge(titles[name], []string{p.Title})
					}
				}
			}
		}
		for name, list := range titles {
			for _, title := range list {
				all[name] = append(all[name], d.Title+": "+title)
			}
		}
	}
	return all, nil
}

var (
	word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	// filters matches parts of a query that read a metric only to find out which programs exist.
	filters = regexp.MustCompile(`(?s)(and|unless) on \([^)]*\) \w+|\b0 \* count.*`)
)

// metricsIn returns the metrics that a query reads, also through recording rules.
func metricsIn(query string, recorded map[string]string) (names []string) {
	for _, w := range word.FindAllString(filters.ReplaceAllString(query, ""), -1) {
		if expr, ok := recorded[w]; ok {
			names = merge(names, metricsIn(expr, recorded))
			continue
		}
		name := w
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if _, ok := catalog.ByName(name); !ok {
				name = strings.TrimSuffix(w, suffix)
			}
		}
		if _, ok := catalog.ByName(name); ok {
			names = merge(names, []string{name})
		}
	}
	return names
}

// source is what the Go files of the repository contain about requirements.
type source struct {
	// tests are the tests with an ID in a comment, by ID.
	tests map[string][]string
	// reporters are the packages that report a metric, by its name.
	reporters map[string][]string
}

// readSource parses every Go file of the repository.
func readSource(root string) (source, error) {
	s := source{tests: map[string][]string{}, reporters: map[string][]string{}}
	names, err := variables(filepath.Join(root, "collectors/catalog"))
	if err != nil {
		return s, err
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		test := strings.HasSuffix(file, "_test.go")
		if !test && !reports.MatchString(relative) {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if test {
			s.addTests(parsed)
		} else {
			s.addReporters(parsed, path.Dir(relative), names)
		}
		return nil
	})
	for _, list := range s.tests {
		slices.Sort(list)
	}
	return s, err
}

// reports matches the files that report metrics, among those that use the catalog.
var reports = regexp.MustCompile(`^(collectors/|tracing/|integrations/|internal/exporter/)`)

var testFuncName = regexp.MustCompile(`^(Test|Benchmark|Example|Fuzz)[A-Z]`)

// addTests adds the tests of a file by the IDs in their comments.
func (s source) addTests(file *ast.File) {
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
				s.tests[id] = merge(s.tests[id], []string{f.Name.Name})
			}
		}
	}
}

// addReporters adds a package to the metrics that it uses.
func (s source) addReporters(file *ast.File, pkg string, names map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == "catalog" {
			if name := names[selector.Sel.Name]; name != "" {
				s.reporters[name] = merge(s.reporters[name], []string{pkg})
			}
		}
		return true
	})
}

// variables returns the names of the metrics by the variables of the catalog that hold them.
func variables(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				return true
			}
			ast.Inspect(spec.Values[0], func(n ast.Node) bool {
				pair, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				key, isIdent := pair.Key.(*ast.Ident)
				value, isLiteral := pair.Value.(*ast.BasicLit)
				if isIdent && isLiteral && key.Name == "Name" && names[spec.Names[0].Name] == "" {
					names[spec.Names[0].Name] = strings.Trim(value.Value, `"`)
				}
				return true
			})
			return false
		})
	}
	return names, nil
}
