package dashboards_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// The dashboard of controllers, with a row for a metric of one's own.
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
		last := d.Queries[len(d.Queries)-1]
		fmt.Println(last.Panel+":", last.Expr)
	}
	// Output: Widgets by state: sum by (state) (widgets{job=~"$job"})
}

// What is added takes no place or id of what is there, and neither does what is added after it.
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
	if n := len(longer.Queries) - len(d.Queries); n != 3 || len(all(t, dashboards.Config{})[0].Queries) != len(d.Queries) {
		t.Errorf("%d queries were added", n)
	}
	for _, problem := range dashboards.Validate(longer.JSON) {
		for _, rule := range []string{"ids:", "grid:", "no dashboard"} {
			if strings.HasPrefix(problem.Error(), rule) {
				t.Error(problem)
			}
		}
	}
	for _, n := range []int{0, 25} {
		if _, err := d.WithRow("Bad", make([]cog.Builder[sdk.Panel], n)...); err == nil || !strings.Contains(err.Error(), `row "Bad"`) {
			t.Errorf("%d panels: %v", n, err)
		}
	}
}
