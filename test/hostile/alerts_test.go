package hostile_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// alert evaluates the generated rules for half an hour, in which each minute is like the run that a scrape describes: counters
// grow by what they have counted, and other values stay. For each case, an alert of its signal fires.
func alert(t *testing.T, samples metricstest.Samples, cases []hostileCase, of func(hostileCase) signal) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []map[string]any `json:"groups"`
	}
	if err := yaml.Unmarshal(raw, &rules); err != nil {
		t.Fatal(err)
	}
	test := promtool.Test{Interval: "1m", Series: halfAnHour(samples)}
	for _, c := range cases {
		if names := of(c).alerts; len(names) > 0 {
			test.Queries = append(test.Queries, promtool.Query{
				At: "30m", Expr: fmt.Sprintf("max(ALERTS{alertstate=\"firing\", alertname=~%q, informer_type=%q})", strings.Join(names, "|"), c.Resource+"."+hostileGroup),
				Samples: []promtool.Sample{{Labels: "{}", Value: 1}},
			})
		}
	}
	if out, ok := promtool.Run(t, "1m", []promtool.Test{test}, rules.Groups); !ok {
		t.Error(out)
	}
}

// halfAnHour returns the series that alert evaluates.
func halfAnHour(samples metricstest.Samples) (series []promtool.Series) {
	for _, s := range samples {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		labels := []string{`job="informer-exporter"`, `instance="exporter"`}
		for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
			labels = append(labels, name+"="+strconv.QuoteToASCII(s.Labels[name]))
		}
		value := strconv.FormatFloat(s.Value, 'f', -1, 64)
		values := value + "x30"
		if counts := slices.ContainsFunc([]string{"_total", "_count", "_sum", "_bucket"}, func(end string) bool { return strings.HasSuffix(s.Name, end) }); counts {
			values = "0+" + value + "x30"
		}
		series = append(series, promtool.Series{Series: s.Name + "{" + strings.Join(labels, ",") + "}", Values: values})
	}
	return series
}

// docs/dev/chaos.md lists each case after its signal.
func TestPage(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "dev", "chaos.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(raw)), " ")
	cases := map[string][]string{}
	for _, c := range hostileCases {
		cases[signalOf(c).text()] = append(cases[signalOf(c).text()], c.Does)
	}
	for signal, does := range cases {
		if item := "- " + signal + ": " + strings.Join(does, "; ") + "."; !strings.Contains(page, item) {
			t.Errorf("docs/dev/chaos.md does not have %q", item)
		}
	}
}
