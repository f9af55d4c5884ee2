package dashboards_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// tablePanel is a table in the model of a dashboard.
type tablePanel struct {
	dashboard, Title, Type string
	Options                struct {
		SortBy []struct {
			DisplayName string
			Desc        bool
		}
	}
	FieldConfig struct {
		Overrides []struct {
			Matcher    struct{ Options any }
			Properties []struct {
				ID    string
				Value any
			}
		}
	}
	Transformations []struct {
		Options struct{ RenameByName map[string]string }
	}
}

func tables(t *testing.T) (list []tablePanel) {
	t.Helper()
	for _, d := range all(t, dashboards.Config{}) {
		var m struct{ Panels []tablePanel }
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			if p.Type == "table" {
				p.dashboard = d.UID
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		t.Fatal("no tables")
	}
	return list
}

// The first row of a table is the worst: the highest values, firing before pending alerts, and pages before tickets.
func TestTablesSortWorstFirst(t *testing.T) {
	for _, p := range tables(t) {
		var columns []string
		for _, tr := range p.Transformations {
			columns = slices.AppendSeq(columns, maps.Values(tr.Options.RenameByName))
		}
		for _, by := range p.Options.SortBy {
			if alphabetical := by.DisplayName == "State" || by.DisplayName == "Severity"; by.Desc == alphabetical {
				t.Errorf("%s, %q sorts by %q, descending: %v", p.dashboard, p.Title, by.DisplayName, by.Desc)
			}
			if !slices.Contains(columns, by.DisplayName) {
				t.Errorf("%s, %q sorts by %q, its columns are %q", p.dashboard, p.Title, by.DisplayName, columns)
			}
		}
	}
}

// Grafana shows a duration of 0 as an empty text.
func TestTablesShowDurationsOfZero(t *testing.T) {
	durations := 0
	for _, p := range tables(t) {
		for _, o := range p.FieldConfig.Overrides {
			properties := map[string]any{}
			for _, property := range o.Properties {
				properties[property.ID] = property.Value
			}
			if properties["unit"] != "dthms" {
				continue
			}
			durations++
			raw, err := json.Marshal(properties["mappings"])
			if want := `[{"options":{"0":{"text":"0 s"}},"type":"value"}]`; err != nil || string(raw) != want {
				t.Errorf("%s, %q: %v has the mappings %s, %v, want %s", p.dashboard, p.Title, o.Matcher.Options, raw, err, want)
			}
		}
	}
	if durations == 0 {
		t.Error("no column has durations")
	}
}
