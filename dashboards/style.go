package dashboards

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// normallyEmpty is the text of a table without rows and of a graph without lines, where that is normal. Failed scrapes leave
// them empty as well, like all other panels.
const normallyEmpty = "None"

// age is the unit of ages and lags, which grow for minutes: 00:03:20. The unit "s" would show 3.33 mins.
const age = "dthms"

// limit is the number of series in a graph that shows only the worst ones.
const limit = 10

// Colors of states: green meets the objective, red misses it.
const (
	green  = "green"
	yellow = "yellow"
	red    = "red"
	blue   = "blue"
	purple = "purple"
	gray   = "#808080"     // neither good nor bad
	none   = "transparent" // for values without objective, and for table cells that meet their objective
)

// meanings are the colors of label values, the same on every dashboard. A value has the same meaning in all labels that begin a
// legend.
var meanings = []color{
	{"success|added|consistent|fresh|complete|hits|held|watched|acquired|timed out|exported|observed|2..", green},
	{"error|failure|terminal|panic|timeout|different|lagging|lost|forbidden|unauthorized|not_found|refused|expired|max_retries|missing|server|decode|queue_full|export_error|malformed|dropped|5..", red},
	{"requeue|requeue_after|conflict|skipped|partial|throttled|slow|misses|disconnected|very_short|server_close|watch_failed|released|unserved|over_limit|fallback|transform|list|index|nil|tail_buffer_full|duplicated|4..", yellow},
	{"initial|opened|resync|resync_requested|relist|active|modified|3..", blue},
	{"deleted", purple},
	{"maximum|bookmark|shutdown|stop|client_stop|other|links|items", gray},
}

// header holds the fields that all types of panels share.
type header struct {
	// id is written by hand. An id is never reused for another panel of the same dashboard.
	id    uint32
	title string
	// description states what the panel shows, what is normal, and what to check otherwise.
	description string
	unit        string
	// empty replaces "No data" in a table or a graph where the absence of series is normal.
	empty string
	// zero is a text for the value 0, where "0" would be misleading.
	zero string
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
	// goal is drawn as a dashed line, with the user's overrides, unless it is nil.
	goal *catalog.Objective
	// ceiling is a value that stays in view, unless it is 0.
	ceiling float64
	// stacked draws stacked bars, for counts.
	stacked bool
	// top keeps the series with the highest values, up to limit at any time.
	top bool
}

// color is the color of series with a legend that begins with a match of pattern.
type color struct{ pattern, name string }

// singleStat is one number with the color of its state.
type singleStat struct {
	header
	query string
	// goal colors the number and ends the description, unless it is nil.
	goal *catalog.Objective
	// red is the lowest bad value without a goal, 0 if there is none.
	red float64
	// idle is the text for NaN, such as a quantile or a share without events.
	idle string
	// link is the dashboard behind the number.
	link *link
}

func dataSource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

func (q query) build(refID string, f filler) *prometheus.DataqueryBuilder {
	b := prometheus.NewDataqueryBuilder().
		Datasource(dataSource()).RefId(refID).Expr(f.query(q.expr)).LegendFormat(f.fill(legend(q.legend))).
		EditorMode(prometheus.QueryEditorModeCode).Format(prometheus.PromQueryFormatTimeSeries).Range()
	if q.traced {
		b.Exemplar(true)
	}
	if f.interval != "" {
		b.Interval(f.interval)
	}
	return b
}

func (q query) instant(refID string, f filler, format prometheus.PromQueryFormat) *prometheus.DataqueryBuilder {
	return q.build(refID, f).Format(format).Instant()
}

// word is a label of a legend, labels joined without a space, or text.
var word = regexp.MustCompile(`\{\{[^}]+\}\}(?:[^ {]+\{\{[^}]+\}\})*|[^{ ][^{]*[^{ ]`)

// legend reverses the words of a legend: Grafana truncates long names at the end, which is where the general part belongs. A dashboard shows
// one cluster, so the cluster is left out.
func legend(text string) string {
	if text == "{{@cluster}}" {
		return text // of all clusters
	}
	words := word.FindAllString(strings.ReplaceAll(text, "{{@cluster}}", ""), -1)
	slices.Reverse(words)
	return strings.Join(words, " ")
}

func refID(i int) string { return string(rune('A' + i)) }

// softMax keeps the line of the objective in view. An axis of ages below a few seconds would repeat 00:00:00.
func (p timeSeries) softMax() float64 {
	if p.unit == age {
		return max(p.goal.Threshold*1.2, 5)
	}
	return math.Round(p.goal.Threshold*1.2e6) / 1e6 // without a rounding error
}

// steps returns green below bad, and red from there.
func steps(bad float64) cog.Builder[sdk.ThresholdsConfig] {
	return sdk.NewThresholdsConfigBuilder().Mode(sdk.ThresholdsModeAbsolute).Steps([]sdk.Threshold{
		{Color: green}, {Color: red, Value: cog.ToPtr(bad)},
	})
}

func (p timeSeries) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	p.goal = f.goal(p.goal)
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
		b.AxisSoftMax(p.softMax()).
			Thresholds(steps(p.goal.Threshold)).
			ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed)).
			Description(p.description + " Dashed line: the objective, " + p.goal.Goal() + ".")
	case p.ceiling > 0:
		b.AxisSoftMax(p.ceiling)
	case p.unit == "percentunit":
		b.AxisSoftMax(.1)
	case p.unit == "short":
		b.AxisSoftMax(1) // show a count of 0 at the bottom, not in the middle of an axis up to 100
	}
	for _, c := range p.meanings() {
		b.OverrideByRegexp(`/^(`+c.pattern+`)( |$)/`, []sdk.DynamicConfigValue{
			{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": c.name}},
		})
	}
	if p.zero != "" {
		b.Mappings(p.zeroText())
	}
	if p.empty != "" {
		b.NoValue(p.empty)
	}
	if slices.ContainsFunc(p.queries, func(q query) bool { return strings.Contains(q.legend, "{{") }) {
		b.Transformations(shorter)
	}
	if f.traces != "" && slices.ContainsFunc(p.queries, func(q query) bool { return q.traced }) {
		b.Links([]cog.Builder[sdk.DashboardLink]{sdk.NewDashboardLinkBuilder("Traces").Type(sdk.DashboardLinkTypeLink).Url(f.traces).TargetBlank(true)})
	}
	for i, q := range p.queries {
		if p.top {
			q.expr = fmt.Sprintf("topk(%d, %s)", limit, q.expr)
		}
		b.WithTarget(q.build(refID(i), f))
	}
	return b.Build()
}

// meant matches legends that begin with a value that may be in meanings.
var meant = regexp.MustCompile(`^(\{\{(result|reason|code|type|state|event|error_type|cause)\}\}|[^{])`)

// meanings returns the colors of the panel's values.
func (p timeSeries) meanings() []color {
	if slices.ContainsFunc(p.queries, func(q query) bool { return meant.MatchString(legend(q.legend)) }) {
		return meanings
	}
	return nil
}

// shorter are transformations of legends that keep Last and Max in view. They omit the usual values: all namespaces for the scope
// of an informer, and no finalizer for a deletion. They shorten words of more than 24 characters so that names stay different: a type
// keeps its resource and the beginning of its group, any other word its end, after a few letters of its beginning.
var shorter = []sdk.DataTransformerConfig{
	rename(`^(.* )?(?:\*|none) (.*)$`, "$1$2"),
	rename(`/([a-z0-9]{1,13}\.[a-z0-9.-]{9}|[a-z0-9]{14,}\.[a-z0-9.-]{3})[a-z0-9.-]{8,}/g`, "$1…"),
	rename(`/([^ ]{4})[^ ]{2,}([^ ]{19})/g`, "$1…$2"),
}

func rename(regex, pattern string) sdk.DataTransformerConfig {
	return sdk.DataTransformerConfig{Id: "renameByRegex", Options: map[string]any{"regex": regex, "renamePattern": pattern}}
}

func (p singleStat) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	if goal := f.goal(p.goal); goal != nil {
		p.red, p.description = goal.Threshold, p.description+" The objective is "+goal.Goal()+"."
	}
	b := stat.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		Thresholds(p.steps()).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdThresholds)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"last"})). // lastNotNull skips NaN, which has a text
		Orientation(common.VizOrientationAuto).TextMode(common.BigValueTextModeValue).
		ColorMode(common.BigValueColorModeBackground).GraphMode(common.BigValueGraphModeNone).
		JustifyMode(common.BigValueJustifyModeAuto).NoValue("No data").
		// Instant: the last value of a range outlives the metrics.
		WithTarget(query{expr: p.query}.instant(refID(0), f, prometheus.PromQueryFormatTimeSeries))
	// An unknown value is not green. The mapping of null also applies without series.
	mappings := append([]sdk.ValueMapping{special(sdk.SpecialValueMatchNull, "No data", none)}, p.zeroText()...)
	if p.idle != "" {
		mappings = append(mappings, special(sdk.SpecialValueMatchNaN, p.idle, none))
	}
	b.Mappings(mappings)
	if counts(p.query) {
		b.Decimals(0)
	}
	if p.link != nil {
		b.DataLinks([]cog.Builder[sdk.DashboardLink]{sdk.NewDashboardLinkBuilder(p.link.title).Type(sdk.DashboardLinkTypeLink).Url(p.link.address(nil))})
	}
	return b.Build()
}

// zeroText maps 0 to its text.
func (h header) zeroText() []sdk.ValueMapping {
	text := h.zero
	if h.unit == age {
		text = cmp.Or(text, "0 s")
	}
	if text == "" {
		return nil
	}
	return []sdk.ValueMapping{{ValueMap: &sdk.ValueMap{
		Type: sdk.MappingTypeValueToText, Options: map[string]sdk.ValueMappingResult{"0": {Text: &text}},
	}}}
}

// counts reports whether the result of a query is a number of events, which increase extrapolates to fractions.
func counts(expr string) bool {
	return strings.Contains(expr, "increase(") && !strings.Contains(expr, " / ")
}

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
