package dashboards_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// All graphs have one height, for comparison. Those of the exporter are lower: its coverage fits on a screen.
func TestHeightsOfGraphs(t *testing.T) {
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Title, Type string
				GridPos     struct{ H int }
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		want := []int{9}
		if d.UID == dashboards.ExporterUID {
			want = []int{7, 8, 9}
		}
		for _, p := range m.Panels {
			if (p.Type == "timeseries" || p.Type == "heatmap") && !slices.Contains(want, p.GridPos.H) {
				t.Errorf("%s, %q is %d high, want %d", d.UID, p.Title, p.GridPos.H, want)
			}
		}
	}
}

// A number that is unknown has a text, and is neither green nor red.
func TestUnknownNumbers(t *testing.T) {
	type result struct{ Text, Color string }
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Title, Type string
				FieldConfig struct {
					Defaults struct {
						Mappings []struct {
							Type    string
							Options json.RawMessage
						}
					}
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			if p.Type != "stat" {
				continue
			}
			var found []result
			for _, mapping := range p.FieldConfig.Defaults.Mappings {
				var o struct {
					Match  string
					Result result
				}
				if mapping.Type != "special" {
					continue
				}
				if err := json.Unmarshal(mapping.Options, &o); err != nil {
					t.Fatal(err)
				}
				if o.Match == "null" {
					found = append(found, o.Result)
				}
			}
			if want := []result{{"No data", "transparent"}}; !slices.Equal(found, want) {
				t.Errorf("%s, %q shows %q if it is unknown, want %q", d.UID, p.Title, found, want)
			}
		}
	}
}

// All selects the series that have the label. Fleet also shows a Prometheus server with series that have no label cluster.
func TestAllValuesOfVariables(t *testing.T) {
	checked := 0
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Templating struct {
				List []struct {
					Name, AllValue string
					IncludeAll     bool
				}
			}
		}
		if err := json.Unmarshal(d.JSON, &m); err != nil {
			t.Fatal(err)
		}
		for _, v := range m.Templating.List {
			if !v.IncludeAll {
				continue
			}
			checked++
			want := ".+"
			if d.UID == dashboards.FleetUID {
				want = ".*"
			}
			if v.AllValue != want {
				t.Errorf("%s: all values of %s are %q, want %q", d.UID, v.Name, v.AllValue, want)
			}
		}
	}
	if checked == 0 {
		t.Error("no variable has all values")
	}
}
