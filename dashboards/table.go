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
	// above is the title of a column: rows in which it is not above 0 are left out.
	above string
}

// column is a column of a table: a query's value, or a label without one.
type column struct {
	query, label, title, unit string
	// red is the smallest value that is bad, if bad is set; under turns that around.
	red        float64
	bad, under bool
	// narrow is a label with short values.
	narrow bool
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

func (p grid) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	b := table.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.about).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		ShowHeader(true).CellHeight(common.TableCellHeightSm).
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName(p.sortBy).Desc(true)})

	rename := map[string]string{}
	order := map[string]int{}
	hide := map[string]bool{"Time": true}
	for i, l := range p.labels {
		rename[f.series.Label(l.label)], order[f.series.Label(l.label)] = l.title, i
		b.OverrideByName(l.title, l.labelProperties(p.labels))
	}
	for i, c := range p.columns {
		b.WithTarget(query{expr: c.query}.instant(refID(i), f, prometheus.PromQueryFormatTable))
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
	b.
		WithTransformation(sdk.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(sdk.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"renameByName": rename, "indexByName": order, "excludeByName": hide,
		}})
	if p.above != "" {
		b.WithTransformation(sdk.DataTransformerConfig{Id: "filterByValue", Options: map[string]any{
			"type": "include", "match": "all",
			"filters": []map[string]any{{"fieldName": p.above, "config": map[string]any{"id": "greater", "options": map[string]any{"value": 0}}}},
		}})
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	return b.Build()
}

// labelProperties are those of a column of labels. Only these have a filter in their heading: to choose among numbers is of
// no use, and takes room.
func (c column) labelProperties(labels []column) []sdk.DynamicConfigValue {
	props := []sdk.DynamicConfigValue{{Id: "custom.filterable", Value: true}}
	if c.label == "cluster" || c.narrow {
		props = append(props, sdk.DynamicConfigValue{Id: "custom.width", Value: 120}) // the others share what is left
	}
	if c.link != nil {
		props = append(props, sdk.DynamicConfigValue{Id: "links", Value: []map[string]any{c.link.dataLink(labels)}})
	}
	return props
}

// width has room for the heading with the arrow of the sorting, and for the values, in pixels.
func (c column) width() int {
	if c.unit == "dateTimeFromNow" {
		return 150 // a few seconds ago
	}
	if c.unit != "" {
		return max(110, 40+8*len(c.title)) // 0.0339 ops/s
	}
	return max(90, 40+8*len(c.title))
}

func (c column) properties() []sdk.DynamicConfigValue {
	var props []sdk.DynamicConfigValue
	set := func(id string, value any) { props = append(props, sdk.DynamicConfigValue{Id: id, Value: value}) }
	if c.unit != "" {
		set("unit", c.unit)
	}
	set("custom.width", c.width())
	if counts(c.query) {
		set("decimals", 0)
	}
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
