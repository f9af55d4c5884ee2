package catalog_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricdiff"
)

// released lists the metrics of the last release; before the first one, those of the main branch. Only a release updates it, with
// UPDATE=1.
const released = "testdata/released.txt"

func current() map[string]metricdiff.Metric {
	forms := map[string]metricdiff.Metric{}
	for _, m := range catalog.All() {
		forms[m.Name] = metricdiff.Metric{Type: m.Type, Stability: m.Stability(), Labels: m.LabelNames()}
	}
	return forms
}

// Metrics of the last release still exist with the same type and labels. A stable metric never changes; a change of another metric
// needs a line in the changelog that names it.
func TestReleasedMetrics(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		var lines []string
		for name, f := range current() {
			lines = append(lines, fmt.Sprintf("%s %s %s %s\n", name, f.Type, f.Stability, strings.Join(f.Labels, ",")))
		}
		slices.Sort(lines)
		if err := os.WriteFile(released, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	before := parseReleased(t, string(data))
	if len(before) < 50 {
		t.Fatalf("%s has only %d metrics", released, len(before))
	}
	for _, problem := range breaks(before, current(), unreleased(string(changelog))) {
		t.Error(problem)
	}
}

func parseReleased(t *testing.T, text string) map[string]metricdiff.Metric {
	forms := map[string]metricdiff.Metric{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 4 {
			t.Fatalf("%s: %q is not a name, a type, a stability and labels", released, line)
		}
		labels := strings.FieldsFunc(fields[3], func(r rune) bool { return r == ',' })
		forms[fields[0]] = metricdiff.Metric{Type: catalog.Type(fields[1]), Stability: catalog.Stability(fields[2]), Labels: labels}
	}
	return forms
}

// unreleased returns the part of the changelog on changes since the last release.
func unreleased(changelog string) string {
	_, rest, _ := strings.Cut(changelog, "\n## [Unreleased]\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// breaks returns changes of stable metrics, and changes of other metrics that the changelog does not mention.
func breaks(before, now map[string]metricdiff.Metric, notes string) (problems []string) {
	for _, c := range metricdiff.Compare(before, now) {
		switch noted := regexp.MustCompile(`\b` + regexp.QuoteMeta(c.Name) + `\b`).MatchString(notes); {
		case !c.Breaks || c.Stability == catalog.External:
		case c.Stability == catalog.Stable:
			problems = append(problems, fmt.Sprintf("%s: keep it, see docs/versioning.md", c))
		case !noted:
			problems = append(problems, fmt.Sprintf("%s: CHANGELOG.md does not name it", c))
		}
	}
	return problems
}

// A note is enough for a change unless the metric is stable.
func TestBreaksAreFound(t *testing.T) {
	gauge := func(level catalog.Stability, labels ...string) metricdiff.Metric {
		return metricdiff.Metric{Type: catalog.TypeGauge, Stability: level, Labels: labels}
	}
	before := map[string]metricdiff.Metric{
		"s_gone": gauge("stable", "a"), "s_kept": gauge("stable", "a"), "b_gone": gauge("beta", "a"), "b_noted": gauge("beta", "a"),
		"b_labels": gauge("beta", "a"), "x_gone": gauge("external", "a"), "b_promoted": gauge("beta", "a"),
	}
	now := map[string]metricdiff.Metric{
		"s_kept": gauge("stable", "a"), "b_labels": gauge("beta", "a", "b"), "b_promoted": gauge("stable", "a"), "new": gauge("beta"),
	}
	notes := unreleased("# Changelog\n\n## [Unreleased]\n\n- [CHANGE] `b_noted` and s_gone are removed. b_gone_total is new.\n\n## v0.1.0\n\n- b_gone\n")
	want := []string{
		"removed beta b_gone: gauge, beta, {a}: CHANGELOG.md does not name it",
		"changed beta b_labels: new label b: CHANGELOG.md does not name it",
		"removed stable s_gone: gauge, stable, {a}: keep it, see docs/versioning.md",
	}
	if got := breaks(before, now, notes); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
