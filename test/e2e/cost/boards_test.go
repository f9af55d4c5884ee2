package cost_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// shown is the time range of a dashboard that is opened.
const shown = time.Hour

// Costs grow linearly with the number of clusters. They are measured with few clusters and with more, and extrapolated.
const few, more, clusters = 2, 4, 300

// TestBoards runs every query of every dashboard as Grafana does when the dashboard is opened, and prints the samples that it
// reads with 300 clusters.
func TestBoards(t *testing.T) {
	shapes := shapesOfACluster(t)
	groups := alerts.Rules(alerts.Config{})
	all, err := dashboards.All(dashboards.Config{})
	if err != nil {
		t.Fatal(err)
	}
	small := withRecorded(t, newFleet(few, shapes), groups)
	large := small.resized(more)
	var b strings.Builder
	fmt.Fprintf(&b, "%d clusters, %v at steps of %v\n", clusters, shown, scrapeInterval)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	table := page.Head("Dashboard", "Queries", "Samples", "In memory", "With all rows: queries", "Samples")
	fmt.Fprintln(w, "\tqueries\tsamples\tread\tin memory\t\twith all rows: queries\tsamples\tread\t")
	for _, d := range all {
		opened, expanded := atScale(boardCost(t, small, d, false), boardCost(t, large, d, false)), atScale(boardCost(t, small, d, true), boardCost(t, large, d, true))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\t%d\t%d\t%d\t\n", d.Title, opened.queries, opened.samples, opened.read, opened.peak, expanded.queries, expanded.samples, expanded.read)
		table += page.Row(d.Title, fmt.Sprint(opened.queries), fmt.Sprint(opened.samples), fmt.Sprint(opened.peak), fmt.Sprint(expanded.queries), fmt.Sprint(expanded.samples))
	}
	_ = w.Flush()
	t.Log("\n" + b.String())
	document(t, "dashboards", table)
}

// document writes a table into docs/benchmarks.md if $UPDATE is set.
func document(t *testing.T, name, table string) {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	const path = "../../../docs/benchmarks.md"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := page.Replace(string(old), "by UPDATE=1 make cost: "+name, table)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// atScale extrapolates from few and more clusters.
func atScale(a, b cost) cost {
	line := func(a, b int64) int64 { return b + (b-a)*(clusters-more)/(more-few) }
	return cost{b.queries, line(a.samples, b.samples), line(a.read, b.read), int(line(int64(a.peak), int64(b.peak)))}
}

// boardModel is the part of a dashboard that decides which queries are sent.
type boardModel struct {
	Panels      []panel
	Annotations struct {
		List []struct {
			Name, Expr string
			Enable     bool
		}
	}
	Templating struct{ List []variable }
}

type panel struct {
	Type, Title, Interval string
	Collapsed             bool
	Panels                []panel
	Targets               []struct {
		Expr           string
		Instant, Range bool
		Hide           bool
		Datasource     struct{ Type string }
	}
}

type variable struct {
	Name, Type, AllValue, Definition string
	IncludeAll                       bool
	Query                            any
	Current                          struct{ Value any }
}

// boardCost returns the cost of the queries that Grafana sends: those of panels in collapsed rows only if they are expanded.
func boardCost(t *testing.T, f *fleet, d dashboards.Dashboard, expanded bool) (c cost) {
	t.Helper()
	var m boardModel
	if err := json.Unmarshal(d.JSON, &m); err != nil {
		t.Fatal(err)
	}
	values := m.values(t, f)
	engine := newEngine()
	ask := func(what, expr string, instant bool, step time.Duration) {
		expr = substitute(values, step, expr)
		var q promql.Query
		var err error
		if instant {
			q, err = engine.NewInstantQuery(t.Context(), f, nil, expr, now)
		} else {
			q, err = engine.NewRangeQuery(t.Context(), f, nil, expr, now.Add(-shown), now, step)
		}
		if err != nil {
			t.Errorf("%s, %s: %v\n%s", d.UID, what, err, expr)
			return
		}
		defer q.Close()
		one, result := run(t.Context(), q)
		if result.Err != nil {
			t.Errorf("%s, %s: %v\n%s", d.UID, what, result.Err, expr)
		}
		c.add(one)
	}
	for _, a := range m.Annotations.List {
		if a.Enable && a.Expr != "" {
			ask(a.Name, a.Expr, false, scrapeInterval)
		}
	}
	for _, p := range m.drawn(expanded) {
		step := scrapeInterval
		if own, err := time.ParseDuration(p.Interval); err == nil {
			step = max(step, own)
		}
		for _, target := range p.Targets {
			if target.Expr == "" || target.Hide || target.Datasource.Type != "" && target.Datasource.Type != "prometheus" {
				continue
			}
			ask(p.Title, target.Expr, target.Instant && !target.Range, step)
		}
	}
	return c
}

// drawn returns the panels that are drawn.
func (m boardModel) drawn(expanded bool) (list []panel) {
	for _, p := range m.Panels {
		switch {
		case p.Type != "row":
			list = append(list, p)
		case expanded || !p.Collapsed:
			list = append(list, p.Panels...)
		}
	}
	return list
}

var labelValues = regexp.MustCompile(`^label_values\((?:(.*),)?\s*([a-zA-Z_][a-zA-Z0-9_]*)\)$`)

// values returns what the variables stand for when the dashboard is opened.
func (m boardModel) values(t *testing.T, f *fleet) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, v := range m.Templating.List {
		current, _ := v.Current.Value.(string)
		if list, ok := v.Current.Value.([]any); ok && len(list) > 0 {
			current = fmt.Sprint(list[0])
		}
		text, _ := v.Query.(string)
		switch {
		case v.Type == "datasource", v.Type == "adhoc":
		case v.IncludeAll && (current == "" || current == "$__all"):
			values[v.Name] = v.AllValue
			if v.AllValue == "" {
				values[v.Name] = ".+"
			}
		case current != "":
			values[v.Name] = current
		case v.Type == "query":
			found := labelValues.FindStringSubmatch(v.Definition)
			if found == nil {
				t.Fatalf("the variable %s has the query %q", v.Name, v.Definition)
			}
			values[v.Name] = f.firstValue(t, substitute(values, scrapeInterval, found[1]), found[2])
		default:
			values[v.Name], _, _ = strings.Cut(text, ",")
		}
	}
	return values
}

// firstValue returns the first value of a label, as Grafana sorts them.
func (f *fleet) firstValue(t *testing.T, selector, label string) string {
	t.Helper()
	matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(selector)
	if err != nil {
		t.Fatalf("%v\n%s", err, selector)
	}
	var list []string
	set := (&querier{f, now.Add(-shown).UnixMilli(), now.UnixMilli()}).Select(t.Context(), false, &storage.SelectHints{}, matchers...)
	for set.Next() {
		if value := set.At().Labels().Get(label); value != "" {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		t.Errorf("no series of %s has the label %s", selector, label)
		return ""
	}
	return slices.Min(list)
}

var reference = regexp.MustCompile(`\$\{(\w+)(?::\w+)?\}|\$(\w+)`)

// substitute replaces the variables of a query, Grafana's own among them.
func substitute(values map[string]string, step time.Duration, text string) string {
	return reference.ReplaceAllStringFunc(text, func(whole string) string {
		found := reference.FindStringSubmatch(whole)
		switch name := found[1] + found[2]; name {
		case "__rate_interval":
			return max(step+scrapeInterval, 4*scrapeInterval).String()
		case "__interval":
			return step.String()
		case "__range":
			return shown.String()
		case "__range_s":
			return fmt.Sprint(int(shown.Seconds()))
		default:
			if value, ok := values[name]; ok {
				return value
			}
			return whole
		}
	})
}
