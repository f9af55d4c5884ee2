package catalog_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// released lists the metrics of the last release; before the first one, those of the main branch. Only a release updates it, with
// UPDATE=1.
const released = "testdata/released.txt"

// form is the part of a metric that its stability level covers.
type form struct{ metricType, stability, labels string }

func current() map[string]form {
	forms := map[string]form{}
	for _, m := range catalog.All() {
		forms[m.Name] = form{string(m.Type), string(m.Stability()), strings.Join(m.LabelNames(), ",")}
	}
	return forms
}

// Metrics of the last release still exist with the same type and labels. A stable metric never changes; a change of another metric
// needs a line in the changelog that names it.
func TestReleasedMetrics(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		var lines []string
		for name, f := range current() {
			lines = append(lines, fmt.Sprintf("%s %s %s %s\n", name, f.metricType, f.stability, f.labels))
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

func parseReleased(t *testing.T, text string) map[string]form {
	forms := map[string]form{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 4 {
			t.Fatalf("%s: %q is not a name, a type, a stability and labels", released, line)
		}
		forms[fields[0]] = form{fields[1], fields[2], fields[3]}
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
func breaks(before, now map[string]form, notes string) (problems []string) {
	for name, was := range before {
		if was.stability == string(catalog.External) {
			continue
		}
		is, ok := now[name]
		change := ""
		switch {
		case !ok:
			change = "is missing"
		case is.metricType != was.metricType:
			change = fmt.Sprintf("has type %s, was %s", is.metricType, was.metricType)
		case is.labels != was.labels:
			change = fmt.Sprintf("has labels %q, had %q", is.labels, was.labels)
		case was.stability == string(catalog.Stable) && is.stability != was.stability:
			change = "is " + is.stability
		}
		switch noted := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(notes); {
		case change == "":
		case was.stability == string(catalog.Stable):
			problems = append(problems, fmt.Sprintf("the stable metric %s %s: keep it, see docs/versioning.md", name, change))
		case !noted:
			problems = append(problems, fmt.Sprintf("the %s metric %s %s, and CHANGELOG.md does not name it", was.stability, name, change))
		}
	}
	slices.Sort(problems)
	return problems
}

// Each kind of change is found, and a note is enough unless the metric is stable.
func TestBreaksAreFound(t *testing.T) {
	before := map[string]form{
		"s_gone": {"gauge", "stable", "a"}, "s_demoted": {"gauge", "stable", "a"}, "s_kept": {"gauge", "stable", "a"},
		"b_gone": {"gauge", "beta", "a"}, "b_noted": {"gauge", "beta", "a"}, "b_type": {"gauge", "beta", "a"}, "b_labels": {"gauge", "beta", "a"},
		"x_gone": {"gauge", "external", "a"}, "b_promoted": {"gauge", "beta", "a"},
	}
	now := map[string]form{
		"s_demoted": {"gauge", "beta", "a"}, "s_kept": {"gauge", "stable", "a"}, "b_type": {"counter", "beta", "a"}, "b_labels": {"gauge", "beta", "a,b"},
		"b_promoted": {"gauge", "stable", "a"}, "new": {"gauge", "beta", ""},
	}
	notes := unreleased("# Changelog\n\n## [Unreleased]\n\n- [CHANGE] `b_noted` and s_gone are removed. b_gone_total is new.\n\n## v0.1.0\n\n- b_gone\n")
	want := []string{
		"the beta metric b_gone is missing, and CHANGELOG.md does not name it",
		`the beta metric b_labels has labels "a,b", had "a", and CHANGELOG.md does not name it`,
		"the beta metric b_type has type counter, was gauge, and CHANGELOG.md does not name it",
		"the stable metric s_demoted is beta: keep it, see docs/versioning.md",
		"the stable metric s_gone is missing: keep it, see docs/versioning.md",
	}
	if got := breaks(before, now, notes); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
