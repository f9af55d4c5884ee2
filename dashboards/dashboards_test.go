package dashboards_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// defaults are generated once, which takes seconds under the race detector.
var defaults = sync.OnceValues(func() ([]dashboards.Dashboard, error) { return dashboards.All(dashboards.Config{}) })

func all(t *testing.T, c dashboards.Config) []dashboards.Dashboard {
	t.Helper()
	get := defaults
	if !reflect.ValueOf(c).IsZero() {
		get = func() ([]dashboards.Dashboard, error) { return dashboards.All(c) }
	}
	list, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// flat returns the model of a dashboard with the panels of collapsed rows among the others.
func flat(t *testing.T, d dashboards.Dashboard) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(d.JSON, &m); err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, p := range m["panels"].([]any) {
		inside, _ := p.(map[string]any)["panels"].([]any)
		list = append(append(list, p), inside...)
	}
	m["panels"] = list
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Each dashboard marks firing pages of its selection on its graphs, and tickets on demand. Some dashboards also mark leader
// transitions.
func TestAnnotations(t *testing.T) {
	leaders := []string{dashboards.OverviewUID, dashboards.ControllersUID, dashboards.LeaderElectionUID}
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Annotations struct {
				List []struct {
					Name, Expr string
					Enable     bool
				}
			}
		}
		if err := json.Unmarshal(d.JSON, &m); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range m.Annotations.List {
			names = append(names, a.Name)
			if a.Expr == "" || a.Enable != (a.Name == "Pages" || a.Name == "Leader transitions" && d.UID == dashboards.LeaderElectionUID) {
				t.Errorf("%s: %q has the query %q and is on: %v", d.UID, a.Name, a.Expr, a.Enable)
			}
			if strings.HasPrefix(a.Expr, "max by (alertname") && !strings.Contains(a.Expr, `job=~"$job|"`) {
				t.Errorf("%s: %q ignores the variables: %s", d.UID, a.Name, a.Expr)
			}
			if severity := map[string]string{"Pages": "page", "Tickets": "ticket"}[a.Name]; severity != "" && strings.Count(a.Expr, `", alertstate=~"firing", severity="`+severity+`", `) != 2 {
				t.Errorf("%s: %q does not mark firing alerts of the severity %s, now and one step before: %s", d.UID, a.Name, severity, a.Expr)
			}
		}
		if d.UID == dashboards.FleetUID { // ALERTS of all clusters would be many series
			continue
		}
		want := []string{"Pages", "Tickets"}
		if slices.Contains(leaders, d.UID) {
			want = append(want, "Leader transitions")
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s marks %q, want %q", d.UID, names, want)
		}
	}
}

// Queries request exemplars only where the library attaches traces.
func TestExemplars(t *testing.T) {
	traced := regexp.MustCompile(`rate\((k8s_informer_event_lag_seconds|k8s_informer_handler_duration_seconds|controller_reconcile_duration_seconds|k8s_client_request_duration_seconds)_bucket\{`)
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Title, Type string
				Targets     []struct {
					Expr     string
					Exemplar bool
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			for _, target := range p.Targets {
				quantile := p.Type == "timeseries" && strings.Contains(target.Expr, "histogram_quantile(0.99") && traced.MatchString(target.Expr)
				if target.Exemplar != quantile {
					t.Errorf("%s, %q: exemplars %v, want %v", d.UID, p.Title, target.Exemplar, quantile)
				}
			}
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	first := all(t, dashboards.Config{})
	second, err := dashboards.All(dashboards.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if !bytes.Equal(first[i].JSON, second[i].JSON) {
			t.Errorf("%s differs between two runs", first[i].UID)
		}
		if found := regexp.MustCompile(`\d\.\d{9,}`).Find(first[i].JSON); found != nil {
			t.Errorf("%s has the number %s, a rounding error", first[i].UID, found)
		}
		if bytes.Contains(first[i].JSON, []byte(`\u003`)) || !bytes.HasSuffix(first[i].JSON, []byte("}\n")) {
			t.Errorf("%s escapes PromQL or lacks its last newline", first[i].UID)
		}
	}
}

// Lines, colors and descriptions follow the objectives in effect.
func TestObjectivesAreDrawn(t *testing.T) {
	threshold := 17.0
	targets, err := catalog.NewTargets(map[string]catalog.Override{"sync_lag": {Threshold: &threshold}})
	if err != nil {
		t.Fatal(err)
	}
	type panel struct {
		ID          int
		Type        string
		Description string
		FieldConfig struct {
			Defaults struct {
				Thresholds struct {
					Steps []struct{ Value *float64 }
				}
				Custom struct {
					ThresholdsStyle struct{ Mode string }
				}
			}
		}
	}
	byID := map[string]map[int]panel{}
	for _, d := range all(t, dashboards.Config{Targets: targets}) {
		var m struct{ Panels []panel }
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		byID[d.UID] = map[int]panel{}
		for _, p := range m.Panels {
			byID[d.UID][p.ID] = p
		}
	}
	type drawn struct {
		id    int
		value float64
		text  string
	}
	check := func(uid string, list ...drawn) {
		for _, want := range list {
			p := byID[uid][want.id]
			steps := p.FieldConfig.Defaults.Thresholds.Steps
			if len(steps) != 2 || steps[1].Value == nil || *steps[1].Value-want.value > 1e-9 || want.value-*steps[1].Value > 1e-9 {
				t.Errorf("%s, panel %d: steps %+v, want red from %v", uid, want.id, steps, want.value)
			}
			if !strings.Contains(p.Description, want.text) {
				t.Errorf("%s, panel %d: the description lacks %q: %s", uid, want.id, want.text, p.Description)
			}
			if p.Type == "timeseries" && p.FieldConfig.Defaults.Custom.ThresholdsStyle.Mode != "dashed" {
				t.Errorf("%s, panel %d does not draw its objective", uid, want.id)
			}
		}
	}
	check(dashboards.OverviewUID, []drawn{
		{40, 17, "at most 17s"}, {42, .01, "more than 5s"}, {44, .01, "more than 1s"}, {46, .01, "at most 1%"},
		{41, 10, "at most 10/min"}, {43, .1, "at most 10%"}, {45, 4, "below 4"}, {48, 300, "at most 5m"},
	}...)
	check(dashboards.DetailUID, []drawn{
		{3, 17, "at most 17s"}, {20, 17, "at most 17s"}, // both draw sync_lag, which is overridden
		{5, .01, "allows 1%"}, {6, .01, "at most 1%"}, {21, 5, "99% within 5s"}, {22, .01, "more than 5s"}, {50, .12, "at most 120ms"},
		{40, 30, "at most 30s"},
	}...)
	check(dashboards.ControllersUID, []drawn{
		{1, 1000, "at most 1000"}, {2, 1, "at most 1s"}, {3, 300, "at most 5m"}, {4, .1, "at most 10%"},
		{20, 1000, "at most 1000"}, {28, .01, "above 1s"}, {22, 1, "at most 1s"}, {26, 300, "at most 5m"}, {41, .1, "at most 10%"},
	}...)
	check(dashboards.LeaderElectionUID, []drawn{
		{3, 4, "below 4"}, {4, 5, "below 5"}, {5, 120, "missing leader"}, {21, 4, "below 4"}, {31, 5, "below 5"},
	}...)
	check(dashboards.APIClientUID, []drawn{
		{1, .01, "at most 1%"}, {2, 1, "at most 1s"}, {30, .01, "at most 1%"}, {40, 1, "at most 1s"},
	}...)
}

// Every table links to an existing dashboard, and links set their variables from columns of the table.
func TestTablesLinkToDashboards(t *testing.T) {
	type override struct {
		Properties []struct {
			ID    string
			Value json.RawMessage
		}
	}
	type model struct {
		Panels []struct {
			Title, Type     string
			FieldConfig     struct{ Overrides []override }
			Transformations []struct {
				ID      string
				Options struct{ RenameByName map[string]string }
			}
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	boards := map[string]model{}
	for _, d := range all(t, dashboards.Config{}) {
		var m model
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		boards[d.UID] = m
	}
	address := regexp.MustCompile(`^/d/([a-z-]+)\?\$\{datasource:queryparam\}&\$\{__url_time_range\}(?:&\$\{cluster:queryparam\})?((?:&var-[a-z_]+=\$\{__data\.fields\.[A-Za-z]+\})*)$`)
	set := regexp.MustCompile(`&var-([a-z_]+)=\$\{__data\.fields\.([A-Za-z]+)\}`)
	found := 0 // links
	for uid, m := range boards {
		for _, p := range m.Panels {
			before := found
			columns := map[string]string{} // labels by their titles
			for _, tr := range p.Transformations {
				for label, title := range tr.Options.RenameByName {
					columns[title] = label
				}
			}
			for _, o := range p.FieldConfig.Overrides {
				for _, property := range o.Properties {
					if property.ID != "links" {
						continue
					}
					var links []struct {
						Title, URL  string
						TargetBlank bool
					}
					if err := json.Unmarshal(property.Value, &links); err != nil {
						t.Fatal(err)
					}
					for _, l := range links {
						found++
						parts := address.FindStringSubmatch(l.URL)
						if parts == nil || l.Title == "" || l.TargetBlank {
							t.Errorf("%s, %q: link %+v", uid, p.Title, l)
							continue
						}
						target, ok := boards[parts[1]]
						if !ok {
							t.Errorf("%s, %q links to %s, which does not exist", uid, p.Title, parts[1])
						}
						for _, s := range set.FindAllStringSubmatch(parts[2], -1) {
							label := columns[s[2]]
							has := slices.ContainsFunc(target.Templating.List, func(v struct{ Name, Definition string }) bool {
								return v.Name == s[1] && (label == s[1] || strings.HasSuffix(v.Definition, ", "+label+")"))
							})
							if !has {
								t.Errorf("%s, %q sets the variable %s of %s from the column %s, which is %q", uid, p.Title, s[1], parts[1], s[2], label)
							}
						}
					}
				}
			}
			if p.Type == "table" && found == before {
				t.Errorf("%s, %q has no link", uid, p.Title)
			}
		}
	}
}

// A table that omits rows filters by one of its columns. A table that is normally empty has a text for that state.
func TestTablesThatOmitRows(t *testing.T) {
	found, silent := 0, 0
	for _, d := range all(t, dashboards.Config{}) {
		var m struct {
			Panels []struct {
				Title           string
				FieldConfig     struct{ Defaults struct{ NoValue string } }
				Transformations []struct {
					ID      string
					Options struct {
						RenameByName map[string]string
						Filters      []struct{ FieldName string }
					}
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			var columns []string
			for _, tr := range p.Transformations {
				columns = slices.AppendSeq(columns, maps.Values(tr.Options.RenameByName))
				if tr.ID != "filterByValue" {
					continue
				}
				found++
				if len(tr.Options.Filters) != 1 || !slices.Contains(columns, tr.Options.Filters[0].FieldName) {
					t.Errorf("%s, %q filters by %+v of %q", d.UID, p.Title, tr.Options.Filters, columns)
				}
			}
			if p.FieldConfig.Defaults.NoValue == "None" {
				silent++
			}
		}
	}
	if found < 4 || silent < 4 {
		t.Errorf("%d tables omit rows, and %d are normally empty", found, silent)
	}
}

// The first screen of a dashboard is cheap, and so is a diagnosis: collapsed rows run no queries. An additional panel must
// replace another one.
func TestPanelsAndQueries(t *testing.T) {
	const firstScreen = 22 // rows of the grid, at 1080 pixels
	limits := map[string]struct{ panels, queries, first int }{
		dashboards.FleetUID:    {panels: 10, queries: 20, first: 18},
		dashboards.OverviewUID: {panels: 20, queries: 25, first: 11},
		dashboards.DetailUID:   {panels: 32, queries: 25, first: 18},
	}
	for _, d := range all(t, dashboards.Config{}) {
		type panel struct {
			Type    string
			GridPos struct{ Y int }
			Targets []json.RawMessage
		}
		var m struct {
			Panels []struct {
				panel
				Panels []panel
			}
		}
		if err := json.Unmarshal(d.JSON, &m); err != nil {
			t.Fatal(err)
		}
		panels, queries, first := 0, 0, 0
		for _, p := range m.Panels {
			panels += len(p.Panels)
			queries += len(p.Targets)
			if p.Type != "row" {
				panels++
			}
			if p.GridPos.Y < firstScreen {
				first += len(p.Targets)
			}
		}
		t.Logf("%s: %d panels, %d queries, %d on the first screen", d.UID, panels, queries, first)
		if l, ok := limits[d.UID]; ok && (panels > l.panels || queries > l.queries || first > l.first) {
			t.Errorf("%s has %d panels, %d queries, and %d on the first screen, want at most %+v", d.UID, panels, queries, first, l)
		}
	}
}
