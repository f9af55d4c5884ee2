package schema2_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboardv2"

	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/dashboards/schema2"
)

func convert(t *testing.T, d dashboards.Dashboard) (spec map[string]any, typed dashboardv2.Dashboard) {
	t.Helper()
	raw, err := schema2.Convert(d.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var resource struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             json.RawMessage
	}
	if err := json.Unmarshal(raw, &resource); err != nil {
		t.Fatal(err)
	}
	if resource.APIVersion != dashboardv2.DashboardAPIVersion || resource.Kind != "Dashboard" || resource.Metadata.Name != d.UID {
		t.Errorf("%s is a %s %s with the name %q", d.UID, resource.APIVersion, resource.Kind, resource.Metadata.Name)
	}
	if err := strict(resource.Spec); err != nil {
		t.Errorf("%s does not fit the schema: %v", d.UID, err)
	}
	if err := json.Unmarshal(resource.Spec, &typed); err != nil {
		t.Errorf("%s does not fit the schema: %v", d.UID, err)
	}
	if err := typed.Validate(); err != nil {
		t.Errorf("%s is invalid: %v", d.UID, err)
	}
	if err := json.Unmarshal(resource.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	return spec, typed
}

// strict returns an error for fields that are unknown to the SDK or missing. Version 0.0.18 of the SDK returns an empty list if there are
// none.
func strict(spec []byte) error {
	err := new(dashboardv2.Dashboard).UnmarshalJSONStrict(spec)
	var list cog.BuildErrors
	if errors.As(err, &list) && len(list) == 0 {
		return nil
	}
	return err
}

// The types of the SDK reject invalid dashboards, so decoding into them is a valid test.
func TestStrictFindsFaults(t *testing.T) {
	all, err := dashboards.All(dashboards.Config{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := schema2.Convert(all[0].JSON)
	if err != nil {
		t.Fatal(err)
	}
	for old, replacement := range map[string]string{
		`"cursorSync":`:            `"cursor":`,
		`"transparent":`:           `"clear":`,
		`"hidden":`:                `"hide":`,
		`"spec": {`:                `"spec": {"more": 1,`,
		`"width":`:                 `"w":`,
		`"kind": "DatasourceVar`:   `"kind": "SourceVar`,
		`"kind": "TabsLayout",`:    `"kind": "Tabs",`,
		`"kind": "QueryVariable",`: `"kind": "Query",`,
	} {
		var resource struct{ Spec json.RawMessage }
		if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte(old), []byte(replacement)), &resource); err != nil {
			t.Fatal(err)
		}
		if err := strict(resource.Spec); err == nil {
			t.Errorf("%s instead of %s is accepted", replacement, old)
		}
	}
}

// at returns the value at a path of keys.
func at(tree any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		m, _ := tree.(map[string]any)
		tree = m[key]
	}
	return tree
}

func list(tree any, path string) []any {
	l, _ := at(tree, path).([]any)
	return l
}

// what is the content of a panel, in either schema.
type what struct {
	title, kind     string
	queries         []string
	options, fields any
	transformed     []any
}

func classicPanels(tree any) map[float64]what {
	found := map[float64]what{}
	for _, p := range list(tree, "panels") {
		if at(p, "type") == "row" {
			maps.Copy(found, classicPanels(p))
			continue
		}
		w := what{title: at(p, "title").(string), kind: at(p, "type").(string), options: at(p, "options"), fields: at(p, "fieldConfig")}
		for _, q := range list(p, "targets") {
			w.queries = append(w.queries, at(q, "refId").(string)+" "+at(q, "expr").(string)+" "+at(q, "legendFormat").(string))
		}
		for _, tr := range list(p, "transformations") {
			w.transformed = append(w.transformed, at(tr, "id"), at(tr, "options"))
		}
		found[at(p, "id").(float64)] = w
	}
	return found
}

func newPanels(spec map[string]any) map[float64]what {
	found := map[float64]what{}
	for _, e := range spec["elements"].(map[string]any) {
		w := what{
			title: at(e, "spec.title").(string), kind: at(e, "spec.vizConfig.group").(string),
			options: at(e, "spec.vizConfig.spec.options"), fields: at(e, "spec.vizConfig.spec.fieldConfig"),
		}
		for _, q := range list(e, "spec.data.spec.queries") {
			w.queries = append(w.queries, at(q, "spec.refId").(string)+" "+at(q, "spec.query.spec.expr").(string)+" "+at(q, "spec.query.spec.legendFormat").(string))
		}
		for _, tr := range list(e, "spec.data.spec.transformations") {
			w.transformed = append(w.transformed, at(tr, "group"), at(tr, "spec.options"))
		}
		found[at(e, "spec.id").(float64)] = w
	}
	return found
}

// Both schemas have the same panels, queries, variables, annotations and rows, and the new one fits the types of Grafana's SDK.
func TestSchemasAreEqual(t *testing.T) {
	all, err := dashboards.All(dashboards.Config{
		RunbookBase: "https://runbooks.example.com", LogsURL: "https://logs.example.com/?q=$namespace/$pod", TracesURL: "https://traces.example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		var classic map[string]any
		if err := json.Unmarshal(d.JSON, &classic); err != nil {
			t.Fatal(err)
		}
		spec, typed := convert(t, d)
		want, got := classicPanels(classic), newPanels(spec)
		if len(want) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the panels differ:\n%v\n%v", d.UID, got, want)
		}
		if spec["title"] != d.Title || len(typed.Links) != len(list(classic, "links")) {
			t.Errorf("%s: title %q, %d links", d.UID, typed.Title, len(typed.Links))
		}
		for i, v := range list(classic, "templating.list") {
			if n := list(spec, "variables")[i]; at(n, "spec.name") != at(v, "name") || at(v, "type") == "query" && !reflect.DeepEqual(at(n, "spec.query.spec"), at(v, "query")) {
				t.Errorf("%s: variable %v has become %v", d.UID, v, n)
			}
		}
		for i, a := range list(classic, "annotations.list") {
			if n := list(spec, "annotations")[i]; at(n, "spec.name") != at(a, "name") || at(n, "spec.query.spec.expr") != at(a, "expr") || at(n, "spec.enable") != at(a, "enable") {
				t.Errorf("%s: annotation %v has become %v", d.UID, a, n)
			}
		}
		rows := slices.DeleteFunc(list(classic, "panels"), func(p any) bool { return at(p, "type") != "row" })
		tabs := list(spec, "layout.spec.tabs")
		if len(rows) != len(tabs) {
			t.Fatalf("%s: %d rows, %d tabs", d.UID, len(rows), len(tabs))
		}
		shown := map[string]bool{}
		for i, tab := range tabs {
			items := list(tab, "spec.layout.spec.items")
			for _, item := range items {
				shown[at(item, "spec.element.name").(string)] = true
				if conditional := at(item, "spec.conditionalRendering") != nil; conditional != (at(rows[i], "collapsed") == true) {
					t.Errorf("%s, %v: hidden without data: %t", d.UID, at(tab, "spec.title"), conditional)
				}
			}
			if conditional := at(tab, "spec.conditionalRendering") != nil; conditional != (at(rows[i], "collapsed") == true) {
				t.Errorf("%s, %v: hidden without metrics: %t", d.UID, at(tab, "spec.title"), conditional)
			}
			if at(tab, "spec.title") != at(rows[i], "title") || len(items) == 0 {
				t.Errorf("%s: the row %v has become %v with %d panels", d.UID, at(rows[i], "title"), at(tab, "spec.title"), len(items))
			}
		}
		if len(shown) != len(want) {
			t.Errorf("%s: tabs show %d of %d panels", d.UID, len(shown), len(want))
		}
	}
}

// A tab is shown while one of its metrics exists, by a hidden variable.
func TestTabsWithoutMetricsAreHidden(t *testing.T) {
	raw, err := schema2.Convert([]byte(`{"panels": [{"type": "row", "id": 7, "collapsed": true, "panels": [
		{"id": 1, "targets": [{"expr": "sum(rate(b_total{job=~\"$job\", env=\"x\", code=\"200\"}[5m])) / sum(a{job=~\"$job\", env=\"x\"})"}]},
		{"id": 2, "targets": [{"expr": "a{job=~\"$job\", name=\"n\", env=\"x\"}"}]}
	]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var resource struct{ Spec map[string]any }
	if err := json.Unmarshal(raw, &resource); err != nil {
		t.Fatal(err)
	}
	const want = `label_values({__name__=~"a|b_total", job=~"$job", env="x"}, __name__)`
	v := at(list(resource.Spec, "variables")[0], "spec")
	if at(v, "query.spec.query") != want || at(v, "hide") != "hideVariable" || at(v, "skipUrlSync") != true {
		t.Errorf("the variable is %v, want a hidden one with %s", v, want)
	}
	rule := at(list(resource.Spec, "layout.spec.tabs")[0], "spec.conditionalRendering.spec")
	if c := at(list(rule, "items")[0], "spec"); at(rule, "visibility") != "show" || !reflect.DeepEqual(c, map[string]any{"variable": at(v, "name"), "operator": "matches", "value": ".+"}) {
		t.Errorf("the rule is %v", rule)
	}
}

func TestConvertRefuses(t *testing.T) {
	for model, want := range map[string]string{
		`{"uid": "x", "newField": 1}`:                                                        "newField",
		`{"panels": [{"type": "stat", "title": "a"}]}`:                                       `"a" is in no row`,
		`{"panels": [{"type": "row", "collapsed": true, "panels": [{"id": 1}, {"id": 1}]}]}`: "two panels have the id 1",
		`{"templating": {"list": [{"type": "adhoc", "name": "v"}]}}`:                         `variable v: unknown type "adhoc"`,
		`{`: "classic dashboard",
	} {
		if _, err := schema2.Convert([]byte(model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", model, err, want)
		}
	}
}
