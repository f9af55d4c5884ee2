package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

var (
	recordingsDir = filepath.Join("testdata", "recordings")
	rulesFile     = filepath.Join("..", "..", "deploy", "prometheus", "rules.yaml")
)

// TestRecordedFaultsFireTheirAlerts evaluates every generated rule, with Prometheus' own packages, on the recording of
// each fault of docs/faults.md. Exactly the alerts of the row fire, and a failed scrape resolves none.
func TestRecordedFaultsFireTheirAlerts(t *testing.T) {
	for _, row := range faultTable(t) {
		t.Run(row.test, func(t *testing.T) {
			t.Parallel()
			r := recorded(t, row.test)
			fired := replay(t, r, rulesFile)
			for _, problem := range slices.Concat(row.compare(fired, r), resolvedByAFailedScrape(t, r, rulesFile, fired)) {
				t.Error(problem)
			}
			if !row.programsOnly {
				return
			}
			well := ofJob(r, "informer-exporter")
			if len(well.Series) == 0 {
				t.Error("there is no exporter next to the program")
			}
			for _, problem := range (faultRow{test: row.test}).compare(replay(t, well, rulesFile), well) {
				t.Error("of the healthy exporter: " + problem)
			}
		})
	}
}

// TestReplayFindsProblems verifies that a renamed metric, a changed threshold and a changed row are detected.
func TestReplayFindsProblems(t *testing.T) {
	const test = "TestCRDDeleted"
	rows := faultTable(t)
	row := rows[slices.IndexFunc(rows, func(r faultRow) bool { return r.test == test })]
	r := recorded(t, test)
	fired := replay(t, r, rulesFile)
	if problems := row.compare(fired, r); len(problems) > 0 {
		t.Fatal(problems)
	}
	t.Run("renamed metric", func(t *testing.T) {
		renamed := r
		renamed.Series = slices.Clone(r.Series)
		for i, s := range renamed.Series {
			if s.Labels.Get(model.MetricNameLabel) == "k8s_informer_watch_connected" {
				renamed.Series[i].Labels = labels.NewBuilder(s.Labels).Set(model.MetricNameLabel, "k8s_informer_watch_up").Labels()
			}
		}
		wantProblems(t, []string{"InformerWatchDown does not fire"}, row.compare(replay(t, renamed, rulesFile), renamed))
	})
	t.Run("other threshold", func(t *testing.T) {
		content, err := os.ReadFile(rulesFile)
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(other, replaced(t, content, "k8s_informer_sync_lag_seconds > 5\n", "k8s_informer_sync_lag_seconds > 5000\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		wantProblems(t, []string{"InformerSyncLagHigh does not fire"}, row.compare(replay(t, r, other), r))
	})
	t.Run("other row", func(t *testing.T) {
		none := faultRow{test: test}
		if problems := none.compare(fired, r); len(problems) != len(fired) {
			t.Errorf("a row with no alert at all: %q", problems)
		}
		early := faultRow{test: test, afterwards: slices.Concat(row.meanwhile, row.afterwards)}
		if problems := early.compare(fired, r); len(problems) != len(row.meanwhile) {
			t.Errorf("a row that has everything fire afterwards: %q", problems)
		}
		late := faultRow{test: test, meanwhile: early.afterwards}
		if problems := late.compare(fired, r); len(problems) != len(row.afterwards) {
			t.Errorf("a row that has everything fire meanwhile: %q", problems)
		}
	})
	t.Run("healthy", func(t *testing.T) {
		shifted := alertSteps{"InformerWatchDown": {r.Phase(recording.During) - 1}}
		only := faultRow{test: test, meanwhile: []string{"InformerWatchDown"}}
		if problems := only.compare(shifted, r); len(problems) != 1 {
			t.Errorf("an alert before the fault: %q", problems)
		}
	})
}

func wantProblems(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// compare returns the differences between the row and the alerts that have fired.
func (row faultRow) compare(fired alertSteps, r recording.Recording) []string {
	begin, end := r.Phase(recording.During), r.Phase(recording.After)
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(fired)) {
		since := fired[name][0]
		late := slices.Contains(row.afterwards, name)
		at := time.Duration(since) * r.Interval
		switch {
		case !late && !slices.Contains(row.meanwhile, name):
			problems = append(problems, fmt.Sprintf("%s fires after %v, and the row does not name it", name, at))
		case since < begin:
			problems = append(problems, fmt.Sprintf("%s fires after %v, before the fault", name, at))
		case late && since < end:
			problems = append(problems, fmt.Sprintf("%s fires after %v, before the fault has ended", name, at))
		case !late && since >= end:
			problems = append(problems, fmt.Sprintf("%s fires after %v, when the fault has ended", name, at))
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(row.meanwhile, row.afterwards)))) {
		if _, ok := fired[name]; !ok {
			problems = append(problems, name+" does not fire")
		}
	}
	return problems
}

// ofJob returns the series of one program.
func ofJob(r recording.Recording, job string) recording.Recording {
	r.Series = slices.DeleteFunc(slices.Clone(r.Series), func(s recording.Series) bool { return s.Labels.Get("job") != job })
	return r
}

// evaluation is the interval of evaluations, unless scrapes are further apart. Prometheus' default is a minute.
const evaluation = 30 * time.Second

// every is the number of steps between evaluations of a recording at its original scrape interval.
const every = 2

// alertSteps are the steps of a recording at which alerts fire, in order, by alert name.
type alertSteps map[string][]int

// loadRules returns the groups of a rule file that read a recording, and that write to its storage, in the order of the file: the
// result of a recording rule is not older than an alert that reads it. Rules that cannot have a result are left out.
func loadRules(t *testing.T, r recording.Recording, rulesFile string) []*rules.Group {
	t.Helper()
	data := inMemory(r)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(replays, data),
		Appendable: data, Queryable: data,
		Context:    t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     promslog.NewNopLogger(),
		Parser:     replayParser, GroupLoader: possibleOn(r), RuleDependencyController: inOrder{},
	})
	groups, errs := manager.LoadGroups(r.Interval, labels.EmptyLabels(), "", nil, false, rulesFile)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	content, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	place := func(g *rules.Group) int { return bytes.Index(content, []byte("name: "+g.Name()+"\n")) }
	return slices.SortedFunc(maps.Values(groups), func(a, b *rules.Group) int { return place(a) - place(b) })
}

// replay evaluates the rules of a file over a recording.
func replay(t *testing.T, r recording.Recording, rulesFile string) alertSteps {
	t.Helper()
	groups := loadRules(t, r, rulesFile)
	fired := alertSteps{}
	for step := 0; step < r.Len(); step += max(1, int(evaluation/r.Interval)) {
		at := r.Start.Add(time.Duration(step) * r.Interval)
		for _, g := range groups {
			if g.Interval() == r.Interval || at.Sub(r.Start)%g.Interval() == 0 {
				g.Eval(t.Context(), at)
			}
			fired.add(t, g, step)
		}
	}
	return fired
}

// add adds the alerts of a group that fire at a step.
func (f alertSteps) add(t *testing.T, g *rules.Group, step int) {
	t.Helper()
	for _, rule := range g.Rules() {
		if err := rule.LastError(); err != nil {
			t.Errorf("step %d: %s: %v", step, rule.Name(), err)
		}
		alerting, ok := rule.(*rules.AlertingRule)
		if ok && alerting.State() == rules.StateFiring && !slices.Contains(f[rule.Name()], step) { // one alert may have several rules
			f[rule.Name()] = append(f[rule.Name()], step)
		}
	}
}
