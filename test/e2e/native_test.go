package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/generate"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// TestNativeRules runs the promtool tests of the rules for native histograms.
func TestNativeRules(t *testing.T) {
	config, err := generate.ParseConfig([]byte("histograms: native"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate.Files(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := generate.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join(root, "alerts", "testdata", "native.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "native.yaml")
	if err := os.WriteFile(file, tests, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := tool(t, stack.PromtoolProgram, "", "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, "prometheus", "rules.yaml")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := tool(t, stack.PromtoolProgram, "", "test", "rules", file); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// bothForms is a query in its classic and in its native form.
type bothForms struct{ of, classic, native string }

// histogramQueries returns the queries of rules, runbooks and panels that read histograms. Each selects only series that the
// given matchers select.
func histogramQueries(t *testing.T, classic, native string) (list []bothForms) {
	t.Helper()
	forms := func(c alerts.Config, d dashboards.Config) (queries []bothForms) {
		for _, g := range alerts.Rules(c) {
			for _, r := range g.Rules {
				queries = append(queries, bothForms{of: "rule " + r.Record + r.Alert, classic: r.Expr})
			}
		}
		for _, a := range alerts.All() {
			for _, expr := range runbookQueries(a, c) {
				queries = append(queries, bothForms{of: "runbook of " + a.Name, classic: expr})
			}
		}
		for _, b := range boards(t, d) {
			for _, q := range b.Queries {
				queries = append(queries, bothForms{of: b.UID + ", " + q.Panel, classic: q.Plain()})
			}
		}
		return queries
	}
	list = forms(alerts.Config{Selector: classic}, dashboards.Config{Selector: classic})
	other := forms(alerts.Config{Selector: native, Histograms: "native"}, dashboards.Config{Selector: native, Histograms: "native"})
	if len(list) != len(other) {
		t.Fatalf("%d classic queries, %d native ones", len(list), len(other))
	}
	for i := range list {
		list[i].native = other[i].classic
	}
	return slices.DeleteFunc(list, func(q bothForms) bool {
		return !slices.ContainsFunc(selectorsOf(t, q.classic), func(v *parser.VectorSelector) bool { return anySuffix(v.Name) })
	})
}

// Both forms read the same histograms, with the same matchers except le. The classic form reads no native histogram, and the
// native form reads no classic one. The alert about the form is the exception.
func TestFormsReadTheSameHistograms(t *testing.T) {
	read := func(expr string, histogram func(name string) (catalog.Metric, bool)) (list []string) {
		for _, v := range selectorsOf(t, expr) {
			name := v.Name
			if m, ok := histogram(name); ok {
				name = m.Name
			} else if m, ok := catalog.ByName(name); ok && m.Type == catalog.TypeHistogram || anySuffix(name) {
				t.Errorf("reads %s in the wrong form: %s", name, expr)
			}
			matchers := slices.DeleteFunc(slices.Clone(v.LabelMatchers), func(m *labels.Matcher) bool {
				return m.Name == labels.BucketLabel || m.Name == metricName
			})
			list = append(list, (&parser.VectorSelector{Name: name, LabelMatchers: matchers}).String())
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	n := 0
	for _, q := range histogramQueries(t, "", "") {
		if strings.HasSuffix(q.of, "ControllerHistogramsWithoutBuckets") {
			continue
		}
		n++
		classic, native := read(q.classic, classicHistogram), read(q.native, nativeHistogram)
		if !slices.Equal(classic, native) {
			t.Errorf("%s reads\n%s in the classic form,\n%s in the native one", q.of, strings.Join(classic, "\n"), strings.Join(native, "\n"))
		}
	}
	if n < 40 {
		t.Errorf("only %d queries read histograms", n)
	}
}

func nativeHistogram(name string) (catalog.Metric, bool) {
	m, ok := catalog.ByName(name)
	return m, ok && m.Type == catalog.TypeHistogram
}

func classicHistogram(name string) (catalog.Metric, bool) {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if metric, ok := strings.CutSuffix(name, suffix); ok {
			return nativeHistogram(metric)
		}
	}
	return catalog.Metric{}, false
}

func anySuffix(name string) bool {
	_, classic := classicHistogram(name)
	return classic
}
