package alerts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// TestHostileLabels evaluates all rules on series that any scraped program may have: labels that queries set, two values of each, without
// the usual labels, without the target's labels, and of two jobs for one target. An evaluation error, such as two results with the same labels, would end the rule for
// every cluster.
func TestHostileLabels(t *testing.T) {
	var metrics []string
	for _, r := range rules(alerts.Config{}) {
		for _, name := range seriesOf(r.Expr) {
			if !slices.Contains(metrics, name) {
				metrics = append(metrics, name)
			}
		}
	}
	if len(metrics) < 60 {
		t.Fatalf("only %d metrics", len(metrics))
	}
	test := promtool.Test{Name: "hostile", Interval: "1m", Queries: []promtool.Query{{Expr: "vector(1)", At: "30m", Samples: []promtool.Sample{{Labels: "{}", Value: 1}}}}}
	for _, metric := range metrics {
		values := "0+1x30"
		if !isCounter(metric) {
			values = "0x15 1x15"
		}
		for _, job := range []string{"a", "b"} {
			own := fmt.Sprintf(`cluster="eu", job=%q, instance="i"`, job)
			labels := []string{own, own + `, namespace="x"`, own + `, namespace="y"`, fmt.Sprintf(`job=%q, instance="i"`, job), fmt.Sprintf(`cluster="eu", job=%q`, job)}
			for _, l := range []string{"name", "lock", "lock_namespace", "lease", "lease_namespace", "verb", "method", "reason", "result", "event", "controller", "signal", "extra", "code"} {
				for _, v := range []string{"1", "error", "<error>"} {
					labels = append(labels, own+fmt.Sprintf(`, %s=%q`, l, v))
				}
			}
			for _, l := range labels {
				test.Series = append(test.Series, promtool.Series{Series: metric + "{" + l + "}", Values: values})
				if strings.HasSuffix(metric, "_bucket") {
					test.Series = append(test.Series, promtool.Series{Series: metric + "{" + l + `, le="+Inf"}`, Values: values})
				}
			}
		}
	}
	if out, ok := promtool.Run(t, "5m", []promtool.Test{test}, alerts.Rules(alerts.Config{})); !ok {
		t.Error(out)
	}
}

// seriesOf returns the names of the metrics that a rule reads.
func seriesOf(expr string) []string {
	var names []string
	for _, name := range anyName.FindAllString(expr, -1) {
		for _, prefix := range []string{"k8s_", "controller_", "workqueue_", "rest_client_", "leader_election_", "apiserver_", "informer_exporter_", "process_", "go_", "scrape_"} {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
	}
	return names
}
