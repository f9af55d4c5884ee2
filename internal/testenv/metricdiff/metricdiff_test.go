package metricdiff_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricdiff"
)

// The page has every metric of the catalog with its form: the pages of two versions are their catalogs.
func TestParse(t *testing.T) {
	page, err := os.ReadFile("../../../deploy/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := metricdiff.Parse(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if len(metrics) != len(catalog.All()) {
		t.Errorf("%d metrics, want %d", len(metrics), len(catalog.All()))
	}
	for _, want := range catalog.All() {
		labels := slices.Sorted(slices.Values(want.LabelNames()))
		got := metrics[want.Name]
		if got.Type != want.Type || got.Stability != want.Stability() || !slices.Equal(got.Labels, labels) || got.Meaning == "" {
			t.Errorf("%s: %+v, want %s, %s, %s", want.Name, got, want.Type, want.Stability(), labels)
		}
	}
	for name, text := range map[string]string{"empty": "", "cut": string(page[:len(page)/8]), "short row": strings.ReplaceAll(string(page), "| gauge | stable |", "| gauge\n")} {
		if got, err := metricdiff.Parse(text); err == nil {
			t.Errorf("%s: no error, but %d metrics", name, len(got))
		}
	}
}

func TestCompare(t *testing.T) {
	m := func(of catalog.Type, level catalog.Stability, meaning string, labels ...string) metricdiff.Metric {
		return metricdiff.Metric{Type: of, Stability: level, Meaning: meaning, Labels: labels}
	}
	before := map[string]metricdiff.Metric{
		"a_same":     m("gauge", "stable", "Same.", "a"),
		"b_removed":  m("gauge", "stable", "Removed.", "a", "b"),
		"c_renamed":  m("counter", "stable", "Renamed.", "a"),
		"d_type":     m("gauge", "stable", "Type.", "a"),
		"e_lost":     m("gauge", "stable", "Lost.", "a", "b"),
		"f_new":      m("gauge", "stable", "New.", "a"),
		"g_demoted":  m("gauge", "stable", "Demoted.", "a"),
		"h_promoted": m("gauge", "beta", "Promoted.", "a"),
		"i_beta":     m("gauge", "beta", "Beta.", "a"),
		"j_external": m("gauge", "external", "External.", "a"),
		"k_retyped":  m("gauge", "beta", "Retyped.", "a"),
	}
	now := map[string]metricdiff.Metric{
		"a_same":     m("gauge", "stable", "Same, in other words.", "a"),
		"z_renamed":  m("counter", "stable", "Renamed.", "a"),
		"d_type":     m("counter", "stable", "Type.", "a"),
		"e_lost":     m("gauge", "stable", "Lost.", "b"),
		"f_new":      m("gauge", "stable", "New.", "a", "n"),
		"g_demoted":  m("gauge", "beta", "Demoted.", "a"),
		"h_promoted": m("gauge", "stable", "Promoted.", "a"),
		"k_other":    m("counter", "beta", "Retyped.", "a"),
		"l_added":    m("gauge", "beta", "Added.", "a"),
	}
	want := []string{
		"removed stable b_removed: gauge, stable, {a,b}",
		"renamed stable c_renamed: now z_renamed",
		"changed stable d_type: type counter, was gauge",
		"changed stable e_lost: without label a",
		"changed stable f_new: new label n",
		"changed stable g_demoted: beta, was stable",
		"changed h_promoted: stable, was beta",
		"removed beta i_beta: gauge, beta, {a}",
		"removed external j_external: gauge, external, {a}",
		"added   k_other: counter, beta, {a}",
		"removed beta k_retyped: gauge, beta, {a}",
		"added   l_added: gauge, beta, {a}",
	}
	var got []string
	for _, c := range metricdiff.Compare(before, now) {
		got = append(got, c.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
