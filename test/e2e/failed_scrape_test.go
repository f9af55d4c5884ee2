package e2e_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/value"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// resolvedByAFailedScrape returns the alerts that a single failed scrape resolves. It fails the scrape when most alerts
// fire.
func resolvedByAFailedScrape(t *testing.T, r recording.Recording, rulesFile string, fired alertSteps) (problems []string) {
	t.Helper()
	var at int
	var most []string
	for step := every; step+every < r.Len(); step += every {
		if around := fired.around(step); len(around) > len(most) {
			at, most = step, around
		}
	}
	if len(most) == 0 {
		return nil
	}
	still := replay(t, cut(withFailedScrape(r, at), 0, at+every+1), rulesFile).around(at)
	for _, name := range most {
		if !slices.Contains(still, name) {
			problems = append(problems, fmt.Sprintf("%s stops firing when the scrape of step %d fails", name, at))
		}
	}
	return problems
}

// around returns the alerts that fire at a step, at the evaluation before it, and at that after it.
func (f alertSteps) around(step int) (names []string) {
	for name, steps := range f {
		if slices.Contains(steps, step-every) && slices.Contains(steps, step) && slices.Contains(steps, step+every) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// withFailedScrape returns a recording with a failed scrape at a step, which makes all series stale.
func withFailedScrape(r recording.Recording, step int) recording.Recording {
	failed := r
	failed.Series = slices.Clone(r.Series)
	for i, s := range failed.Series {
		if step >= len(s.Values) || math.IsNaN(s.Values[step]) && !value.IsStaleNaN(s.Values[step]) {
			continue
		}
		values := slices.Clone(s.Values)
		switch s.Labels.Get(model.MetricNameLabel) {
		case recording.FaultSeries: // not of a target
		case "up":
			values[step] = 0
		default:
			values[step] = recording.Stale
		}
		failed.Series[i].Values = values
	}
	return failed
}

// TestResolvedByAFailedScrapeIsSeen: without keep_firing_for, alerts about gauges are resolved.
func TestResolvedByAFailedScrapeIsSeen(t *testing.T) {
	content, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	forgetful := filepath.Join(t.TempDir(), "rules.yaml")
	content = regexp.MustCompile(`(?m)^\s+keep_firing_for:.*\n`).ReplaceAll(content, nil)
	if err := os.WriteFile(forgetful, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r := recorded(t, "TestCutConnection")
	fired := replay(t, r, forgetful)
	problems := resolvedByAFailedScrape(t, r, forgetful, fired)
	if len(problems) == 0 || len(problems) == len(fired) {
		t.Errorf("of %v these are resolved: %q", fired, problems)
	}
}
