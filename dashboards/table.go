package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// labelTable is a table with a row per combination of labels.
type labelTable struct {
	header
	columns []column
	labels  []column
	// sortBy are the titles of the columns to sort by: values with the highest first, labels in alphabetical order. The second column
	// orders the rows with equal values in the first: most values of a column of problems are 0.
	sortBy []string
	// clusters shows the label cluster, which is constant where the dashboard shows one cluster.
	clusters bool
	// positive is the title of a column: rows without a value above 0 in it are omitted. rows is the title of a column: rows
	// without a value in it are omitted.
	positive, rows string
}

// column is a column of a table: the value of a query, or a label.
type column struct {
	query, label, title, unit string
	// goal colors the values that miss it, unless it is nil.
	goal *catalog.Objective
	// red is the lowest bad value without a goal, 0 if there is none. With below, lower values are bad instead.
	red   float64
	below bool
	// narrow marks a label with short values.
	narrow bool
	// hidden hides the value of a query that only adds labels.
	hidden bool
	// names are texts for values.
	names map[string]string
	// link is the data link of a label.
	link *link
}

// link links a row of a table to a dashboard with details.
type link struct {
	uid, title string
	// url is an address outside of Grafana, instead of uid.
	url string
	// sets lists the variables to set, each from the label of the same name; "controller=name" sets the variable controller from
	// the label name. Without a label cluster, the dashboard's own variable is passed on.
	sets []string
}

func (l link) dataLink(labels []column) map[string]any {
	return map[string]any{"title": l.title, "url": l.address(labels), "targetBlank": l.url != ""}
}

// address returns an address that keeps the data source and the time range.
func (l link) address(labels []column) string {
	if l.url != "" {
		return l.url
	}
	var b strings.Builder
	b.WriteString("/d/" + l.uid + "?${datasource:queryparam}&${__url_time_range}")
	for _, set := range l.sets {
		if set == "cluster" && !slices.ContainsFunc(labels, func(c column) bool { return c.label == set }) {
			b.WriteString("&${cluster:queryparam}")
			continue
		}
		variable, label, renamed := strings.Cut(set, "=")
		if !renamed {
			label = variable
		}
		title := labels[slices.IndexFunc(labels, func(c column) bool { return c.label == label })].title
		b.WriteString("&var-" + variable + "=${__data.fields." + title + "}")
	}
	return b.String()
}

func (p labelTable) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	b := table.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		ShowHeader(true).CellHeight(common.TableCellHeightSm).
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{})).
		SortBy(p.sorting())

	rename := map[string]string{}
	order := map[string]int{}
	hide := map[string]bool{"Time": true}
	if !p.clusters {
		hide[f.series.Label("cluster")] = true
		p.labels = slices.DeleteFunc(slices.Clone(p.labels), func(c column) bool { return c.label == "cluster" })
	}
	for i, l := range p.labels {
		rename[f.series.Label(l.label)], order[f.series.Label(l.label)] = l.title, i
		b.OverrideByName(l.title, l.labelProperties(p.labels))
	}
	for i, c := range p.columns {
		b.WithTarget(query{expr: c.query}.instant(refID(i), f, prometheus.PromQueryFormatTable))
		field := "Value #" + refID(i)
		if len(p.columns) == 1 {
			field = "Value" // Grafana's name for the value of a single query
		}
		if c.hidden {
			hide[field] = true
			continue
		}
		if goal := f.goal(c.goal); goal != nil {
			c.red, c.below = goal.Threshold, goal.Below
		}
		rename[field], order[field] = c.title, len(p.labels)+i
		b.OverrideByName(c.title, c.properties())
	}
	b.
		WithTransformation(sdk.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(sdk.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"renameByName": rename, "indexByName": order, "excludeByName": hide,
		}})
	if p.positive != "" {
		b.WithTransformation(include(p.positive, "greater", map[string]any{"value": 0}))
	}
	if p.rows != "" {
		b.WithTransformation(include(p.rows, "isNotNull", map[string]any{}))
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	return b.Build()
}

// include keeps the rows with a value in a column that passes a test.
func include(title, test string, options map[string]any) sdk.DataTransformerConfig {
	return sdk.DataTransformerConfig{Id: "filterByValue", Options: map[string]any{
		"type": "include", "match": "all",
		"filters": []map[string]any{{"fieldName": title, "config": map[string]any{"id": test, "options": options}}},
	}}
}

func (p labelTable) sorting() (list []cog.Builder[common.TableSortByFieldState]) {
	for _, title := range p.sortBy {
		label := slices.ContainsFunc(p.labels, func(c column) bool { return c.title == title })
		list = append(list, common.NewTableSortByFieldStateBuilder().DisplayName(title).Desc(!label))
	}
	return list
}

// labelProperties returns the properties of a label column. Only label columns have a filter in their header.
func (c column) labelProperties(labels []column) []sdk.DynamicConfigValue {
	props := []sdk.DynamicConfigValue{
		{Id: "custom.filterable", Value: true},
		{Id: "noValue", Value: " "}, // otherwise cells without the label have the text of a table without rows
	}
	if c.narrow {
		props = append(props, sdk.DynamicConfigValue{Id: "custom.width", Value: 120}) // the other columns share the remaining width
	}
	if c.link != nil {
		props = append(props, sdk.DynamicConfigValue{Id: "links", Value: []map[string]any{c.link.dataLink(labels)}})
	}
	return props
}

// width returns a width in pixels for the header with its sort arrow and for the values.
func (c column) width() int {
	if c.unit == "dateTimeFromNow" {
		return 150 // a few seconds ago
	}
	width := max(90, 40+8*len(c.title))
	for _, name := range c.names {
		width = max(width, 30+8*len(name))
	}
	return width
}

func (c column) properties() []sdk.DynamicConfigValue {
	var props []sdk.DynamicConfigValue
	set := func(id string, value any) { props = append(props, sdk.DynamicConfigValue{Id: id, Value: value}) }
	if c.unit != "" {
		set("unit", c.unit)
	}
	set("custom.width", c.width())
	set("noValue", " ")
	if counts(c.query) {
		set("decimals", 0)
	}
	if c.red != 0 {
		low, high := none, red
		if c.below {
			low, high = red, none
		}
		set("thresholds", map[string]any{"mode": "absolute", "steps": []map[string]any{
			{"color": low, "value": nil}, {"color": high, "value": c.red},
		}})
		set("color", map[string]any{"mode": "thresholds"})
		set("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"})
	}
	names := c.names
	if c.unit == age {
		names = map[string]string{"0": "0 s"}
	}
	if names != nil {
		options := map[string]any{}
		for value, text := range names {
			options[value] = map[string]any{"text": text}
		}
		set("mappings", []map[string]any{{"type": "value", "options": options}})
	}
	return props
}
