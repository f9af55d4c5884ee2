package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Legends of series, most of them aggregated over the processes of a program.
const (
	legendProgram     = "{{@cluster}} {{name}}"
	legendInformer    = legendProgram + " {{informer_type}} {{watch_namespace}}"
	legendHandler     = legendInformer + " {{handler}}"
	legendUpstream    = "{{@cluster}} {{name}} {{group}} {{version}} {{resource}}"
	legendController  = legendProgram + " {{controller}}"
	legendFinalizer   = legendController + " {{finalizer}}"
	legendQueue       = "{{@cluster}} {{@job}} {{name}}" // client-go's metrics carry only the queue's name
	legendLock        = legendProgram + " {{lock}}"
	legendLease       = "{{@cluster}} {{lease_namespace}}/{{lease}}"
	legendResource    = "{{@cluster}} {{informer_type}} {{namespace}}"
	legendTerminating = "{{@cluster}} {{informer_type}} {{finalizer}}"
	legendExporter    = "{{@cluster}} {{@instance}}"
)

// normallyEmpty is the text of a panel that normally has no series. Failed scrapes also leave it empty, as they do the other panels.
const normallyEmpty = "None, if other panels have data"

// Colors of states: green meets the objective, red misses it.
const (
	green = "green"
	red   = "red"
	gray  = "#808080"     // neither good nor bad
	none  = "transparent" // for values without objective, and for table cells that meet their objective
)

// header holds the fields that all types of panels share.
type header struct {
	// id is written by hand. An id is never reused for another panel of the same dashboard.
	id    uint32
	title string
	// description states what the panel shows, what is normal, and what to check otherwise.
	description string
	unit        string
	// empty replaces Grafana's "No data" where the absence of series is normal.
	empty string
}

// query is a query with the placeholders of filler.
type query struct {
	expr, legend string
	// traced requests exemplars, for buckets of histograms to which the library attaches traces.
	traced bool
}

// timeSeries is a graph over time.
type timeSeries struct {
	header
	queries []query
	// goal is drawn as a dashed line, unless it is nil.
	goal *catalog.Objective
	// ceiling is a value that stays in view, unless it is 0.
	ceiling float64
	// stacked draws stacked bars, for counts.
	stacked bool
	// colors are fixed colors of series, by the end of their legend.
	colors []color
}

// color is the color of series whose legend ends with a match of pattern.
type color struct{ pattern, name string }

// resultColors returns green for the results that match good and red for those that match bad.
func resultColors(good, bad string) []color {
	return []color{{good, green}, {bad, red}}
}

// singleStat is one number with the color of its state.
type singleStat struct {
	header
	query string
	// goal colors the number and ends the description, unless it is nil.
	goal *catalog.Objective
	// red is the lowest bad value without a goal, 0 if there is none.
	red float64
	// idle is the text for NaN, such as a quantile without events.
	idle string
}

// distribution is a heat map of a histogram over time.
type distribution struct {
	header
	query string
}

func dataSource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

func (q query) build(refID string, f filler) *prometheus.DataqueryBuilder {
	b := prometheus.NewDataqueryBuilder().
		Datasource(dataSource()).RefId(refID).Expr(f.fill(q.expr)).LegendFormat(f.fill(q.legend)).
		EditorMode(prometheus.QueryEditorModeCode).Format(prometheus.PromQueryFormatTimeSeries).Range()
	if q.traced {
		b.Exemplar(true)
	}
	return b
}

func (q query) instant(refID string, f filler, format prometheus.PromQueryFormat) *prometheus.DataqueryBuilder {
	return q.build(refID, f).Format(format).Instant()
}

func refID(i int) string { return string(rune('A' + i)) }

// steps returns green below bad, and red from there.
func steps(bad float64) cog.Builder[sdk.ThresholdsConfig] {
	return sdk.NewThresholdsConfigBuilder().Mode(sdk.ThresholdsModeAbsolute).Steps([]sdk.Threshold{
		{Color: green}, {Color: red, Value: cog.ToPtr(bad)},
	})
}

func (p timeSeries) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	b := timeseries.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit(p.unit).Min(0).
		Datasource(dataSource()).GridPos(pos).
		// The SDK's own defaults hide the legend and leave the tooltip without a mode.
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).
			Calcs([]string{"lastNotNull", "max"}).SortBy("Max").SortDesc(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdPaletteClassic)).
		// No fill: with a line per informer it would cover the graph.
		LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeNever).
		SpanNulls(common.BoolOrFloat64{Bool: cog.ToPtr(false)}).
		AxisBorderShow(false)
	if p.stacked {
		b.DrawStyle(common.GraphDrawStyleBars).FillOpacity(70).LineWidth(0).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	switch {
	case p.goal != nil:
		// Keep the line in view, so that a small lag looks small.
		b.AxisSoftMax(p.goal.Threshold * 1.2).
			Thresholds(steps(p.goal.Threshold)).
			ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed)).
			Description(p.description + " Dashed line: the objective, " + p.goal.Goal() + ".")
	case p.ceiling > 0:
		b.AxisSoftMax(p.ceiling)
	case p.unit == "short":
		b.AxisSoftMax(1) // show a count of 0 at the bottom, not in the middle of an axis up to 100
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	for _, c := range p.colors {
		b.OverrideByRegexp(`/ (`+c.pattern+`)$/`, []sdk.DynamicConfigValue{
			{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": c.name}},
		})
	}
	for i, q := range p.queries {
		b.WithTarget(q.build(refID(i), f))
	}
	return b.Build()
}

func (p singleStat) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	if p.goal != nil {
		p.red, p.description = p.goal.Threshold, p.description+" The objective is "+p.goal.Goal()+"."
	}
	b := stat.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		Thresholds(p.steps()).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdThresholds)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Orientation(common.VizOrientationAuto).TextMode(common.BigValueTextModeValue).
		ColorMode(common.BigValueColorModeBackground).GraphMode(common.BigValueGraphModeNone).
		JustifyMode(common.BigValueJustifyModeAuto).NoValue("No data").
		// Instant: the last value of a range outlives the metrics.
		WithTarget(query{expr: p.query}.instant(refID(0), f, prometheus.PromQueryFormatTimeSeries))
	// An unknown value is not green. The mapping of null also applies without series.
	mappings := []sdk.ValueMapping{special(sdk.SpecialValueMatchNull, "No data", none)}
	if p.idle != "" {
		mappings = append(mappings, special(sdk.SpecialValueMatchNaN, p.idle, green))
	}
	b.Mappings(mappings)
	if counts(p.query) {
		b.Decimals(0)
	}
	return b.Build()
}

// counts reports whether the result of a query is a number of events, which increase extrapolates to fractions.
func counts(expr string) bool { return strings.Contains(expr, "increase(") }

func special(match sdk.SpecialValueMatch, text, color string) sdk.ValueMapping {
	return sdk.ValueMapping{SpecialValueMap: &sdk.SpecialValueMap{
		Type: sdk.MappingTypeSpecialValue,
		Options: sdk.DashboardSpecialValueMapOptions{
			Match:  match,
			Result: sdk.ValueMappingResult{Text: cog.ToPtr(text), Color: cog.ToPtr(color)},
		},
	}}
}

// steps returns no color for a number without objective.
func (p singleStat) steps() cog.Builder[sdk.ThresholdsConfig] {
	if p.red == 0 {
		return sdk.NewThresholdsConfigBuilder().Mode(sdk.ThresholdsModeAbsolute).Steps([]sdk.Threshold{{Color: none}})
	}
	return steps(p.red)
}

func (p distribution) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	return heatmap.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit("short").
		Datasource(dataSource()).GridPos(pos).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").Steps(64)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true)).
		ShowLegend().
		WithTarget(query{expr: p.query, legend: "{{le}}"}.build(refID(0), f).Format(prometheus.PromQueryFormatHeatmap)).
		Build()
}
