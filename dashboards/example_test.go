package dashboards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// Add a row with a custom metric to the controllers dashboard.
func ExampleDashboard_WithRow() {
	all, err := dashboards.All(dashboards.Config{})
	if err != nil {
		panic(err)
	}
	for _, d := range all {
		if d.UID != dashboards.ControllersUID {
			continue
		}
		d, err := d.WithRow("Widgets", timeseries.NewPanelBuilder().Title("Widgets by state").
			WithTarget(prometheus.NewDataqueryBuilder().RefId("A").Expr(`sum by (state) (widgets{job=~"$job"})`)))
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.Contains(string(d.JSON), `"title": "Widgets by state"`))
	}
	// Output: true
}

// Added panels overlap no other panels, and their IDs are unique.
func TestWithRow(t *testing.T) {
	d := all(t, dashboards.Config{})[0]
	own := func(title string) cog.Builder[sdk.Panel] {
		return timeseries.NewPanelBuilder().Title(title).WithTarget(prometheus.NewDataqueryBuilder().RefId("A").Expr("up"))
	}
	longer, err := d.WithRow("First", own("a"), own("b"))
	if err == nil {
		longer, err = longer.WithRow("Second", own("c"))
	}
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ X, Y, W, H int }
	panels := func(d dashboards.Dashboard) (list []struct {
		ID      int
		GridPos place
	}) {
		var m struct{ Panels json.RawMessage }
		if err := errors.Join(json.Unmarshal(d.JSON, &m), json.Unmarshal(m.Panels, &list)); err != nil {
			t.Fatal(err)
		}
		return list
	}
	before, after := panels(d), panels(longer)
	if n := len(after) - len(before); n != 5 || len(panels(all(t, dashboards.Config{})[0])) != len(before) {
		t.Errorf("%d panels and rows were added, want 5", n)
	}
	ids, taken := map[int]bool{}, map[[2]int]bool{}
	for _, p := range after {
		if p.ID == 0 || ids[p.ID] {
			t.Errorf("the id %d is 0 or taken", p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d does not fit: %+v", p.ID, p.GridPos)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if taken[[2]int{x, y}] {
					t.Fatalf("panel %d overlaps another one: %+v", p.ID, p.GridPos)
				}
				taken[[2]int{x, y}] = true
			}
		}
	}
	for _, n := range []int{0, 25} {
		if _, err := d.WithRow("Bad", make([]cog.Builder[sdk.Panel], n)...); err == nil || !strings.Contains(err.Error(), `row "Bad"`) {
			t.Errorf("%d panels: %v", n, err)
		}
	}
}
