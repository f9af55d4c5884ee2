package dashboards_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// All graphs have one height, for comparison. Graphs of the exporter may be lower: its coverage fits on a screen.
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
			if p.Type == "timeseries" && !slices.Contains(want, p.GridPos.H) {
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

// Panels fill the width of the grid. Graphs have a legend and a limited number of lines, and leave room above the line of the
// objective, but not too much.
func TestPanelsFillTheGrid(t *testing.T) {
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Title, Type string
				GridPos     struct{ W, X, Y int }
				Targets     []struct{ Expr, LegendFormat string }
				Options     struct{ Legend struct{ ShowLegend bool } }
				FieldConfig struct {
					Defaults struct {
						Unit       string
						Decimals   *float64
						Thresholds struct {
							Steps []struct{ Value *float64 }
						}
						Custom struct {
							AxisSoftMax     *float64
							ThresholdsStyle struct{ Mode string }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		widths := map[int]int{}
		for _, p := range m.Panels {
			if p.Type == "row" {
				continue
			}
			widths[p.GridPos.Y] += p.GridPos.W
			defaults := p.FieldConfig.Defaults
			if p.Type == "stat" && strings.Contains(p.Targets[0].Expr, "increase(") && defaults.Unit != "percentunit" && (defaults.Decimals == nil || *defaults.Decimals != 0) {
				t.Errorf("%s, %q shows fractions of events", d.UID, p.Title)
			}
			if (p.Type == "timeseries" || p.Type == "state-timeline") && !p.Options.Legend.ShowLegend {
				t.Errorf("%s, %q has no legend", d.UID, p.Title)
			}
			for _, query := range p.Targets {
				perInformer := strings.Contains(query.LegendFormat, "{{watch_namespace}}") && !strings.Contains(query.LegendFormat, "{{cluster}}")
				if p.Type == "timeseries" && perInformer && !strings.HasPrefix(query.Expr, "topk(10, ") {
					t.Errorf("%s, %q has a line for each informer, without a limit", d.UID, p.Title)
				}
			}
			if p.Type != "timeseries" || defaults.Custom.ThresholdsStyle.Mode != "dashed" {
				continue
			}
			objective, top := *defaults.Thresholds.Steps[1].Value, defaults.Custom.AxisSoftMax
			if top == nil || *top <= objective || *top > max(1.5*objective, 5) {
				t.Errorf("%s, %q: the axis ends at %v, with a line at %v", d.UID, p.Title, top, objective)
			}
		}
		for y, w := range widths {
			if w%24 != 0 {
				t.Errorf("%s: the panels at %d are %d wide, want 24", d.UID, y, w)
			}
		}
	}
}

// A bad value of a column is red and a good one has no color, even where low values are bad. Labels with short values are
// narrow.
func TestColumns(t *testing.T) {
	colors, widths := map[string][]string{}, map[string]string{}
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Type        string
				FieldConfig struct {
					Overrides []struct {
						Matcher    struct{ Options json.RawMessage }
						Properties []struct {
							ID    string
							Value json.RawMessage
						}
					}
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			if p.Type != "table" {
				continue
			}
			for _, o := range p.FieldConfig.Overrides {
				column := d.UID + " " + string(o.Matcher.Options)
				for _, property := range o.Properties {
					var v struct{ Steps []struct{ Color string } }
					switch {
					case property.ID == "custom.width":
						widths[column] = string(property.Value)
					case property.ID == "thresholds" && json.Unmarshal(property.Value, &v) == nil:
						colors[column] = nil
						for _, s := range v.Steps {
							colors[column] = append(colors[column], s.Color)
						}
					}
				}
			}
		}
	}
	detail, overview := dashboards.DetailUID+" ", dashboards.OverviewUID+" "
	for column, want := range map[string][]string{
		detail + `"Synced"`: {"red", "transparent"}, detail + `"Watch"`: {"red", "transparent"}, detail + `"Degraded"`: {"transparent", "red"}, detail + `"Objects"`: nil,
	} {
		if !slices.Equal(colors[column], want) {
			t.Errorf("%s: colors %v, want %v", column, colors[column], want)
		}
	}
	for column, want := range map[string]string{
		overview + `"Severity"`: "120", overview + `"State"`: "120", overview + `"Cluster"`: "", detail + `"Namespace"`: "120", detail + `"Instance"`: "",
	} {
		if widths[column] != want {
			t.Errorf("%s: width %q, want %q", column, widths[column], want)
		}
	}
}
