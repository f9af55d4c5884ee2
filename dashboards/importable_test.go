package dashboards_test

import (
	"encoding/json"
	"testing"
)

// grafana.com and the dialog Import accept each dashboard without a question: it names all types of its panels, and needs no input.
func TestDashboardsCanBeImported(t *testing.T) {
	for _, d := range dashboardsOf(t) {
		var m struct {
			Inputs   []any                                `json:"__inputs"`
			Requires []struct{ Type, ID, Version string } `json:"__requires"`
			Panels   []struct{ Type string }
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		if m.Inputs == nil || len(m.Inputs) > 0 {
			t.Errorf("%s has the inputs %v, want an empty list", d.UID, m.Inputs)
		}
		required, used := map[string]bool{}, map[string]bool{}
		for _, r := range m.Requires {
			required[r.Type+"/"+r.ID] = true
		}
		for _, p := range m.Panels {
			used[p.Type] = true
			if p.Type != "row" && !required["panel/"+p.Type] {
				t.Errorf("%s does not require the panel %s", d.UID, p.Type)
			}
		}
		if !required["grafana/grafana"] || !required["datasource/prometheus"] || len(used) < 3 {
			t.Errorf("%s requires %v for panels of the types %v", d.UID, required, used)
		}
	}
}
