package dashboards_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// variable matches a variable of a dashboard in a matcher.
var variable = regexp.MustCompile(`\$[a-z_]+`)

// evaluable returns a query that Prometheus can evaluate: for the given clusters, all values of the other variables, and fixed windows.
func evaluable(expr, clusters string) string {
	expr = strings.NewReplacer("$__rate_interval", "5m", "$__range_s", "1800", "$__range", "30m", "$__interval", "1m", "$cluster", clusters).Replace(expr)
	return variable.ReplaceAllString(expr, ".*")
}

// numbers is a model in testdata/numbers: series, and what panels show of them after 40 minutes.
type numbers struct {
	name string
	// Clusters is the value of $cluster, eu by default. The cluster us then has the same series with other values, which no panel
	// shows.
	Clusters string                       `json:"clusters"`
	Series   []promtool.Series            `json:"series"`
	Panels   map[string][]promtool.Sample `json:"panels"`
}

func models(t *testing.T) (all []numbers) {
	t.Helper()
	paths, err := filepath.Glob("testdata/numbers/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := numbers{name: strings.TrimSuffix(filepath.Base(path), ".yaml")}
		if err := yaml.UnmarshalStrict(raw, &m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if m.Clusters == "" {
			m.Clusters = "eu"
			for _, s := range slices.Clone(m.Series) {
				m.Series = append(m.Series, promtool.Series{Series: strings.Replace(s.Series, `cluster="eu"`, `cluster="us"`, 1), Values: "7000+500x60"})
			}
		}
		all = append(all, m)
	}
	return all
}

// TestNumbers evaluates the queries of all panels with Prometheus' own engine on the series of models. The models have several
// of everything that a query aggregates, in different states. Among them are running workers and their maximum (S44), conflicts as a share
// of writes (S45), slow syncs and cleanups and the p99 of histograms (S48), open watches by program (S51) and the hit ratio (S52).
func TestNumbers(t *testing.T) {
	all := queries(t)
	evaluated := map[string]bool{}
	var tests []promtool.Test
	for _, m := range models(t) {
		test := promtool.Test{Name: m.name, Interval: "1m", Series: m.Series}
		unknown := maps.Clone(m.Panels)
		for _, s := range all {
			if want, ok := m.Panels[s.String()]; ok {
				delete(unknown, s.String())
				evaluated[s.String()] = evaluated[s.String()] || len(want) > 0
				test.Queries = append(test.Queries, promtool.Query{Expr: evaluable(s.expr, m.Clusters), At: "40m", Samples: want})
			}
		}
		if len(unknown) > 0 {
			t.Errorf("%s: no panel has the text %q", m.name, slices.Sorted(maps.Keys(unknown)))
		}
		tests = append(tests, test)
	}
	for _, s := range all {
		if !evaluated[s.String()] {
			t.Errorf("%q has no number in any model of testdata/numbers: add series and the expected result", s)
		}
	}
	if out, ok := promtool.Run(t, "1m", tests, nil); !ok {
		t.Error(out)
	}
}
