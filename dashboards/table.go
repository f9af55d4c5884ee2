package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// grid is a table with a row for each combination of labels.
type grid struct {
	header
	columns []column
	labels  []column
	sortBy  string
}

// column is a column of a table: a query's value, or a label without one.
type column struct {
	query, label, title, unit string
	// red is the smallest value that is bad, if bad is set; under turns that around.
	red        float64
	bad, under bool
	// hidden keeps the value from view: the query is there for its labels.
	hidden bool
	// words replaces values.
	words map[string]string
	// link leads from a label to another dashboard.
	link *link
}

// link leads from a row of a table to a dashboard about what the row is about.
type link struct {
	uid, title string
	// sets names the variables of that dashboard that get the value of the label of the same name. "controller=name" sets
	// the variable controller from the label name.
	sets []string
}

// dataLink keeps the data source and the time range.
func (l link) dataLink(labels []column) map[string]any {
	var b strings.Builder
	b.WriteString("/d/" + l.uid + "?${datasource:queryparam}&${__url_time_range}")
	for _, set := range l.sets {
		variable, label, renamed := strings.Cut(set, "=")
		if !renamed {
			label = variable
		}
		title := labels[slices.IndexFunc(labels, func(c column) bool { return c.label == label })].title
		b.WriteString("&var-" + variable + "=${__data.fields." + title + "}")
	}
	return map[string]any{"title": l.title, "url": b.String()}
}

func (p grid) panel(pos sdk.GridPos) (sdk.Panel, error) {
	b := table.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.about).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		ShowHeader(true).CellHeight(common.TableCellHeightSm).Filterable(true).
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName(p.sortBy).Desc(true)})

	rename := map[string]string{}
	order := map[string]int{}
	hide := map[string]bool{"Time": true}
	for i, l := range p.labels {
		rename[l.label], order[l.label] = l.title, i
		if l.link != nil {
			b.OverrideByName(l.title, []sdk.DynamicConfigValue{{Id: "links", Value: []map[string]any{l.link.dataLink(p.labels)}}})
		}
	}
	for i, c := range p.columns {
		b.WithTarget(query{expr: c.query}.instant(refID(i), prometheus.PromQueryFormatTable))
		field := "Value #" + refID(i)
		if len(p.columns) == 1 {
			field = "Value" // what Grafana calls the value of an only query
		}
		if c.hidden {
			hide[field] = true
			continue
		}
		rename[field], order[field] = c.title, len(p.labels)+i
		b.OverrideByName(c.title, c.properties())
	}
	return b.
		WithTransformation(sdk.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(sdk.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"renameByName": rename, "indexByName": order, "excludeByName": hide,
		}}).
		Build()
}

func (c column) properties() []sdk.DynamicConfigValue {
	var props []sdk.DynamicConfigValue
	set := func(id string, value any) { props = append(props, sdk.DynamicConfigValue{Id: id, Value: value}) }
	if c.unit != "" {
		set("unit", c.unit)
	}
	set("custom.width", 125)
	if c.bad {
		low, high := none, red
		if c.under {
			low, high = red, none
		}
		set("thresholds", map[string]any{"mode": "absolute", "steps": []map[string]any{
			{"color": low, "value": nil}, {"color": high, "value": c.red},
		}})
		set("color", map[string]any{"mode": "thresholds"})
		set("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"})
	}
	if c.words != nil {
		options := map[string]any{}
		for value, text := range c.words {
			options[value] = map[string]any{"text": text}
		}
		set("mappings", []map[string]any{{"type": "value", "options": options}})
	}
	return props
}
