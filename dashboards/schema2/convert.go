package schema2

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// APIVersion is the version of the dashboards that Convert returns.
const APIVersion = "dashboard.grafana.app/v2"

type object map[string]any

func kind(name string, spec object) object { return object{"kind": name, "spec": spec} }

// Convert returns a generated dashboard as a resource in schema v2. The argument is the classic JSON model. The same input yields
// the same bytes.
func Convert(model []byte) ([]byte, error) {
	var d classic
	decoder := json.NewDecoder(bytes.NewReader(model))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("classic dashboard: %w", err)
	}
	elements, tabs, presence, err := d.tabs()
	if err != nil {
		return nil, err
	}
	variables, err := d.variables()
	if err != nil {
		return nil, err
	}
	return encode(object{
		"apiVersion": APIVersion,
		"kind":       "Dashboard",
		"metadata":   object{"name": d.UID},
		"spec": object{
			"title": d.Title, "description": d.Description, "tags": d.Tags, "editable": d.Editable,
			"cursorSync": []string{"Off", "Crosshair", "Tooltip"}[d.GraphTooltip],
			"preload":    false,
			"links":      links(d.Links),
			"timeSettings": object{
				"timezone": d.Timezone, "from": d.Time.From, "to": d.Time.To, "autoRefresh": d.Refresh,
				"autoRefreshIntervals": []string{"10s", "30s", "1m", "5m", "15m", "30m", "1h"},
				"hideTimepicker":       false, "fiscalYearStartMonth": d.FiscalYearStartMonth,
			},
			"annotations": d.annotations(),
			"variables":   append(variables, presence...),
			"elements":    elements,
			"layout":      kind("TabsLayout", object{"tabs": tabs}),
		},
	})
}

func encode(tree any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(tree)
	return b.Bytes(), err
}
