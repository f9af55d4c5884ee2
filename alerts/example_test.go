package alerts_test

import (
	"fmt"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// The rules, with a group for a custom metric.
func ExampleRules() {
	c := alerts.Config{Groups: []string{"upstream"}, ExtraLabels: map[string]string{"team": "widgets"}}
	if err := c.Validate(); err != nil {
		panic(err)
	}
	groups := append(alerts.Rules(c), alerts.Group{Name: "widgets", Rules: []alerts.Rule{{
		Alert:       "WidgetsBroken",
		Expr:        `sum by (cluster) (widgets{state="broken"}) > 0`,
		For:         "10m",
		Labels:      map[string]string{alerts.SeverityLabel: "ticket", "team": "widgets"},
		Annotations: map[string]string{alerts.SummaryAnnotation: "{{ $value }} Widgets are broken."},
	}}})
	for _, g := range groups {
		fmt.Println(g.Name, len(g.Rules))
	}
	// Output:
	// informer-exporter.upstream 9
	// widgets 1
}
