package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
)

// timeline is a band per series of 0 and 1, with the color of its state.
type timeline struct {
	header
	query
	// no and yes are the texts for 0 and 1.
	no, yes string
	// noColor is the color of 0.
	noColor string
}

func (p timeline) panel(pos sdk.GridPos, f filler) (sdk.Panel, error) {
	state := func(text, color string) sdk.ValueMappingResult {
		return sdk.ValueMappingResult{Text: cog.ToPtr(text), Color: cog.ToPtr(color)}
	}
	return statetimeline.NewPanelBuilder().
		Id(p.id).Title(p.title).Description(p.description).Unit(p.unit).
		Datasource(dataSource()).GridPos(pos).
		NoValue(normallyEmpty).
		Mappings([]sdk.ValueMapping{{ValueMap: &sdk.ValueMap{
			Type:    sdk.MappingTypeValueToText,
			Options: map[string]sdk.ValueMappingResult{"0": state(p.no, p.noColor), "1": state(p.yes, green)},
		}}}).
		ColorScheme(sdk.NewFieldColorBuilder().Mode(sdk.FieldColorModeIdThresholds)).
		MergeValues(true).ShowValue(common.VisibilityModeNever).RowHeight(0.8).LineWidth(0).FillOpacity(70).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle)).
		Transformations(shorter).
		WithTarget(p.build(refID(0), f)).
		Build()
}
