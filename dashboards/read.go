package dashboards

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// reader fills in the texts of a page for a configuration, and collects errors.
type reader struct {
	c     Config
	page  pageFile
	marks prom.Marks
	// place is the panel, for errors.
	place string
	errs  []error
}

func (r *reader) fail(field string, err error) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s%s: %w", r.page.file, r.place, field, err))
}

func (r *reader) text(field, s string) string {
	filled, err := r.marks.Fill(s)
	if err != nil {
		r.fail(field, err)
	}
	return filled
}

// page fills in a page.
func (b book) page(file pageFile, c Config) (page, error) {
	r := &reader{c: c, page: file}
	r.marks = prom.Marks{Call: r.call, Fragment: func(name string) (string, bool) {
		fragment, ok := b.fragments[name]
		return fragment, ok
	}}
	p := page{uid: file.UID, title: file.Title, description: file.Description, leaders: file.Leaders, alerts: r.text("alerts", file.Alerts)}
	for _, v := range file.Variables {
		p.variables = append(p.variables, variable{name: v.Name, title: v.Title, series: r.text("variables", v.Series), label: v.Label, single: v.Single, all: v.All})
	}
	for _, f := range file.Rows {
		row := row{id: f.ID, title: f.Title, collapsed: f.Collapsed}
		for _, l := range f.Lines {
			row.lines = append(row.lines, r.line(l))
		}
		p.rows = append(p.rows, row)
	}
	return p, errors.Join(r.errs...)
}

func (r *reader) line(f lineFile) line {
	l := line{height: f.Height}
	var sum uint32
	for _, p := range f.Panels {
		r.place = fmt.Sprintf("panel %q: ", p.Title)
		if p.Width > 0 {
			l.widths, sum = append(l.widths, p.Width), sum+p.Width
		}
		l.panels = append(l.panels, r.panel(p))
	}
	if n := len(l.widths); n > 0 && (n < len(l.panels) || sum != gridWidth) {
		r.fail("width", fmt.Errorf("the widths of a line are %d, want all of them with a sum of %d", l.widths, gridWidth))
	}
	r.place = ""
	return l
}

func (r *reader) panel(f panelFile) panel {
	h := header{id: f.ID, title: f.Title, description: r.text("description", f.Description), unit: f.Unit, empty: f.Empty, zero: f.Zero}
	goal, bad := r.goal(f.goalFile)
	var queries []query
	for i, q := range f.Queries {
		queries = append(queries, query{expr: r.text(fmt.Sprintf("queries[%d].expr", i), q.Expr), legend: q.Legend, traced: q.Traced})
	}
	switch f.Kind {
	case "timeseries":
		return timeSeries{header: h, queries: queries, goal: goal, ceiling: f.Ceiling, stacked: f.Stacked, top: f.Top}
	case "stat":
		return singleStat{header: h, query: r.text("query", f.Query), goal: goal, red: bad, idle: f.Idle, link: r.link(f.Link)}
	case "table":
		t := labelTable{header: h, sortBy: f.Sort, clusters: f.Clusters, positive: f.Positive, rows: f.Rows}
		t.labels, t.columns = r.columns("labels", f.Labels), r.columns("columns", f.Columns)
		return t
	case "timeline":
		if len(queries) != 1 {
			r.fail("queries", fmt.Errorf("%d, want 1", len(queries)))
			return nil
		}
		return timeline{header: h, query: queries[0], no: f.Names["0"], yes: f.Names["1"], noColor: f.Color}
	}
	r.fail("kind", fmt.Errorf("%q, want stat, timeseries, table or timeline", f.Kind))
	return nil
}

func (r *reader) columns(field string, list []columnFile) (columns []column) {
	for _, f := range list {
		at := field + "." + f.Title
		c := column{title: f.Title, label: r.c.series().Fill(f.Label), query: r.text(at+".query", f.Query), unit: f.Unit, hidden: f.Hidden, below: f.Below, narrow: f.Narrow, names: f.Names, link: r.link(f.Link)}
		var goal *catalog.Objective
		if goal, c.red = r.goal(f.goalFile); goal != nil {
			c.goal = goal
		}
		columns = append(columns, c)
	}
	return columns
}

func (r *reader) link(f *linkFile) *link {
	if f == nil || f.URL != "" && r.c.RunbookBase == "" && strings.Contains(f.URL, "<<runbooks>>") {
		return nil
	}
	if f.Dashboard != "" && !slices.Contains(uids, f.Dashboard) {
		r.fail("link.dashboard", fmt.Errorf("%q is not the uid of a dashboard", f.Dashboard))
	}
	return &link{uid: f.Dashboard, title: f.Title, url: r.text("link.url", f.URL), sets: f.Sets}
}

// objective returns an objective of the catalog.
func objective(id string) (catalog.Objective, bool) {
	all := catalog.Objectives.All()
	i := slices.IndexFunc(all, func(o catalog.Objective) bool { return o.ID == id })
	if i < 0 {
		return catalog.Objective{}, false
	}
	return all[i], true
}

func (r *reader) goal(f goalFile) (goal *catalog.Objective, bad float64) {
	if id := f.Objective + f.Budget; id != "" {
		o, ok := objective(id)
		switch {
		case !ok:
			r.fail("objective", fmt.Errorf("%q is not the ID of an objective of the catalog", id))
		case f.Budget != "":
			return &catalog.Objective{Threshold: r.c.Targets.Of(o).Allowed(), Unit: "percentunit"}, 0
		}
		return &o, 0
	}
	if f.Red == nil {
		return nil, 0
	}
	number := r.text("red", fmt.Sprint(f.Red))
	bad, err := strconv.ParseFloat(number, 64)
	if err != nil {
		r.fail("red", fmt.Errorf("%q is not a number", number))
	}
	return nil, bad
}

// call returns the text for a mark with the ID of an objective, and for the few others.
func (r *reader) call(name string, arguments []string) (string, bool) {
	switch {
	case name == "runbooks" && len(arguments) == 0:
		return strings.TrimSuffix(r.c.RunbookBase, "/"), true
	case name == "occurred" && len(arguments) == 2:
		return prom.Occurred(arguments[0], arguments[1]), true
	case name == "alerts" && len(arguments) == 3:
		return page{alerts: arguments[0], variables: r.selectable()}.alertMatchers(arguments[2], arguments[1]), true
	}
	if len(arguments) != 1 {
		return "", false
	}
	usual, ok := objective(arguments[0])
	if !ok {
		return "", false
	}
	o := r.c.Targets.Of(usual)
	switch name {
	case "amount":
		return o.Amount(), true
	case "threshold":
		return catalog.FormatNumber(o.Threshold), true
	case "count":
		return catalog.FormatNumber(o.MinCount), true
	case "budget":
		return o.Budget(), true
	case "allowed":
		return strconv.FormatFloat(o.Allowed(), 'g', -1, 64), true
	case "for_seconds":
		return catalog.FormatNumber(o.For.Seconds()), true
	case "bound": // of a bucket of the histogram, which stays when the threshold changes
		return catalog.FormatNumber(usual.Threshold), true
	case "bound_amount":
		return usual.Amount(), true
	}
	return "", false
}

// selectable returns the variables of the page by name.
func (r *reader) selectable() (list []variable) {
	for _, v := range r.page.Variables {
		list = append(list, variable{name: v.Name})
	}
	return list
}
