package dashboards

import (
	"encoding/json"
	"maps"
	"slices"

	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// importable is a dashboard with the fields of Grafana's "Export for sharing externally", without which grafana.com refuses a dashboard.
// It asks for no input, because a variable chooses the data source. Provisioning ignores the fields.
type importable struct {
	dashboard any // of the SDK
	requires  []requirement
}

type requirement struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// MarshalJSON implements json.Marshaler.
func (i importable) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(i.dashboard)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if fields["__requires"], err = json.Marshal(i.requires); err != nil {
		return nil, err
	}
	fields["__inputs"] = json.RawMessage("[]")
	return json.Marshal(fields)
}

// requirements returns the oldest Grafana that loads a dashboard, its data source, and the types of its panels.
func requirements(panels []sdk.PanelOrRowPanel) []requirement {
	types := map[string]bool{}
	for _, p := range panels {
		if p.Panel != nil {
			types[p.Panel.Type] = true
			continue
		}
		for _, inner := range p.RowPanel.Panels {
			types[inner.Type] = true
		}
	}
	list := []requirement{{"grafana", "grafana", "Grafana", "10.0.0"}, {"datasource", "prometheus", "Prometheus", "1.0.0"}}
	for _, id := range slices.Sorted(maps.Keys(types)) {
		list = append(list, requirement{"panel", id, id, ""})
	}
	return list
}
