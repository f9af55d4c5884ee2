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

// Legends of series that are summed up over the processes of a program.
const (
	legendInformer = "{{@cluster}} {{name}} {{informer_type}} {{watch_namespace}}"
	legendHandler  = legendInformer + " {{handler}}"

	legendController = "{{@cluster}} {{name}} {{controller}}"
	legendQueue      = "{{@cluster}} {{@job}} {{name}}" // client-go gives the queue's name only
	legendLock       = "{{@cluster}} {{name}} {{lock}}"
)

// Colours mean the same everywhere: green is fine, red misses its objective.
// noneHere stands where no series is as it should be: there is none either if nothing is scraped, but then nowhere else.
const noneHere = "None, if other panels have data"

const (
	green = "green"
	red   = "red"
	grey  = "#808080"     // a state that is neither
	none  = "transparent" // for what is no matter of good and bad, and in tables, where only what is bad should catch the eye
)

// header is what every panel has.
type header struct {
	// id is written by hand and never given to another panel of the same dashboard.
	id    uint32
	title string
	// about says what the panel shows, what is normal, and what to do if it is not.
	about string
	unit  string
	// empty is what stands there if there is no series, where that is as it should be; else Grafana says No data.
	empty string
}

// query is a query with the placeholders of filler.
type query struct {
	expr, legend string
	// traced asks for exemplars, too: the series are buckets of a histogram to which the library attaches traces.
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
	// stacked draws bars on top of one another, for counts.
	stacked bool
	// colours are those of series by the end of their legend.
	colours []colour
}

// colour is that of the series whose legend ends with a word of the regular expression.
type colour struct{ words, name string }

// resultColours are for results that are good or bad. Others are neither, and have no colour of their own.
func resultColours(good, bad string) []colour {
	return []colour{{good, green}, {bad, red}}
}

// single is one number with the colour of its state.
type single struct {
	header
	query string
	// red is the smallest value that is bad, 0 if no value is.
	red float64
	// idle is what an undefined value means, such as a quantile of no events; "" if there is none.
	idle string
}

// heat is a histogram over time.
type heat struct {
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

// steps colours values from bad on red.
func steps(bad float64) cog.Builder[sdk.ThresholdsConfig] {
	return sdk.NewThresholdsConfigBuilder().Mode(sdk.ThresholdsModeAbsolute).Steps([]sdk.Threshold{
		{Color: green}, {Color: red, Value: cog.ToPtr(bad)},
	})
}

func (p timeSeries) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	b := timeseries.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.about).Unit(p.unit).Min(0).
		Datasource(dataSource()).GridPos(pos).
		// The SDK's own defaults hide the legend and leave the tooltip without a mode.
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).
			Calcs([]string{"lastNotNull", "max"}).SortBy("Max").SortDesc(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdPaletteClassic)).
		// Nothing below the lines: with one for each informer it would be all that is to be seen.
		LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeNever).
		SpanNulls(common.BoolOrFloat64{Bool: cog.ToPtr(false)}).
		AxisBorderShow(false)
	if p.stacked {
		b.DrawStyle(common.GraphDrawStyleBars).FillOpacity(70).LineWidth(0).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	switch {
	case p.goal != nil:
		// The line stays in view, and a lag of nothing looks like nothing.
		b.AxisSoftMax(p.goal.Threshold * 1.2).
			Thresholds(steps(p.goal.Threshold)).
			ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed)).
			Description(p.about + " The dashed line is the objective: " + p.goal.Goal() + ".")
	case p.ceiling > 0:
		b.AxisSoftMax(p.ceiling)
	case p.unit == "short":
		b.AxisSoftMax(1) // counts of nothing at the bottom, not in the middle of an axis up to 100
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	for _, c := range p.colours {
		b.OverrideByRegexp(`/ (`+c.words+`)$/`, []sdk.DynamicConfigValue{
			{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": c.name}},
		})
	}
	for i, q := range p.queries {
		b.WithTarget(q.build(refID(i), f))
	}
	return b.Build()
}

func (p single) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	b := stat.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.about).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		Thresholds(p.steps()).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdThresholds)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Orientation(common.VizOrientationAuto).TextMode(common.BigValueTextModeValue).
		ColorMode(common.BigValueColorModeBackground).GraphMode(common.BigValueGraphModeNone).
		JustifyMode(common.BigValueJustifyModeAuto).NoValue("No data").
		// Instant: the last value of a range would still look fine long after the metrics have stopped.
		WithTarget(query{expr: p.query}.instant(refID(0), f, prometheus.PromQueryFormatTimeSeries))
	// What is not known is not green. The mapping of null holds for no series, too.
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

// counts tells that the result of a query is a number of events, which increase extrapolates: once is not 1.02 times.
func counts(expr string) bool { return strings.Contains(expr, "increase(") }

func special(match sdk.SpecialValueMatch, text, colour string) sdk.ValueMapping {
	return sdk.ValueMapping{SpecialValueMap: &sdk.SpecialValueMap{
		Type: sdk.MappingTypeSpecialValue,
		Options: sdk.DashboardSpecialValueMapOptions{
			Match:  match,
			Result: sdk.ValueMappingResult{Text: cog.ToPtr(text), Color: cog.ToPtr(colour)},
		},
	}}
}

// steps leaves a number without a colour that is neither good nor bad.
func (p single) steps() cog.Builder[sdk.ThresholdsConfig] {
	if p.red == 0 {
		return sdk.NewThresholdsConfigBuilder().Mode(sdk.ThresholdsModeAbsolute).Steps([]sdk.Threshold{{Color: none}})
	}
	return steps(p.red)
}

func (p heat) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	return heatmap.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.about).Unit("short").
		Datasource(dataSource()).GridPos(pos).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").Steps(64)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true)).
		ShowLegend().
		WithTarget(query{expr: p.query, legend: "{{le}}"}.build(refID(0), f).Format(prometheus.PromQueryFormatHeatmap)).
		Build()
}
