package dashboards

import (
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// alertList lists firing alerts of all rules that Grafana knows: its own and those of its data sources.
type alertList struct {
	header
	// names is a regular expression of alert names.
	names string
}

func (p alertList) panel(pos sdk.GridPos, _ filler) (sdk.Panel, error) {
	return sdk.NewPanelBuilder().Type("alertlist").
		Id(p.id).Title(p.title).Description(p.description).GridPos(pos).
		// The panel has no schema in the SDK. Grafana 10 to 13 know these options (public/app/plugins/panel/alertlist/types.ts).
		Options(map[string]any{
			"viewMode":                 "list",
			"groupMode":                "default",
			"groupBy":                  []string{},
			"maxItems":                 20,
			"sortOrder":                3, // importance
			"dashboardAlerts":          false,
			"showInstances":            true,
			"alertName":                "",
			"alertInstanceLabelFilter": `{alertname=~"` + p.names + `"}`,
			"stateFilter": map[string]any{
				"firing": true, "pending": false, "noData": false, "normal": false, "error": true,
			},
		}).
		Build()
}
