package dashboards_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/promql"
)

func all(t *testing.T, c dashboards.Config) []dashboards.Dashboard {
	t.Helper()
	list, err := dashboards.All(c)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestQueriesUseTheCatalog(t *testing.T) {
	for _, d := range all(t, dashboards.Config{}) {
		if len(d.Queries) == 0 {
			t.Errorf("%s has no queries", d.UID)
		}
		for _, q := range d.Queries {
			if err := promql.Check(q.Expr, nil); err != nil {
				t.Errorf("%s, %q: %v", d.UID, q.Panel, err)
			}
			if plain := q.Plain("5m"); strings.Contains(plain, "$") {
				t.Errorf("%s, %q: a variable is left in %s", d.UID, q.Panel, plain)
			}
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	first, second := all(t, dashboards.Config{}), all(t, dashboards.Config{})
	for i := range first {
		if !bytes.Equal(first[i].JSON, second[i].JSON) {
			t.Errorf("%s differs between two runs", first[i].UID)
		}
		if bytes.Contains(first[i].JSON, []byte(`\u003`)) || !bytes.HasSuffix(first[i].JSON, []byte("}\n")) {
			t.Errorf("%s escapes PromQL or lacks its last newline", first[i].UID)
		}
	}
}

// Lines and colours follow the objectives in force, and so do the texts.
func TestObjectivesAreDrawn(t *testing.T) {
	threshold := 17.0
	targets, err := catalog.NewTargets(map[string]catalog.Override{"sync_lag": {Threshold: &threshold}})
	if err != nil {
		t.Fatal(err)
	}
	type panel struct {
		ID          int
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
	var m struct{ Panels []panel }
	if err := json.Unmarshal(all(t, dashboards.Config{Targets: targets})[0].JSON, &m); err != nil {
		t.Fatal(err)
	}
	byID := map[int]panel{}
	for _, p := range m.Panels {
		byID[p.ID] = p
	}
	for _, want := range []struct {
		id    int
		value float64
		text  string
	}{
		{3, 17, "at most 17s"}, {20, 17, "at most 17s"}, // both draw sync_lag, which is overridden
		{4, 10, "10/min"}, {5, .01, "allows 1%"}, {6, .01, "at most 1%"}, {7, .12, "at most 120ms"},
		{21, 5, "99% within 5s"}, {31, 10, "at most 10/min"}, {33, .5, "at most 500ms"}, {40, 30, "at most 30s"}, {43, 30, "at most 30s"},
	} {
		p := byID[want.id]
		steps := p.FieldConfig.Defaults.Thresholds.Steps
		if len(steps) != 2 || steps[1].Value == nil || *steps[1].Value-want.value > 1e-9 || want.value-*steps[1].Value > 1e-9 {
			t.Errorf("panel %d: steps %+v, want red from %v", want.id, steps, want.value)
		}
		if !strings.Contains(p.Description, want.text) {
			t.Errorf("panel %d: the description lacks %q: %s", want.id, want.text, p.Description)
		}
		if want.id >= 20 && p.FieldConfig.Defaults.Custom.ThresholdsStyle.Mode != "dashed" {
			t.Errorf("panel %d draws no line", want.id)
		}
	}
}
