package alerts_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// screen is the number of lines that a reader sees without much scrolling.
const screen = 60

var (
	stepNumber  = regexp.MustCompile(`(?m)^\d+\. `)
	logsCommand = regexp.MustCompile(` logs (\S+)`)
	podVariable = regexp.MustCompile(`^("\$(POD|REPLICA)"|deployment/\S+|deploy/\S+|-l|--selector\S*)$`)
)

var firstLine = regexp.MustCompile(`^\*\*(Act now|Can wait until morning(, unless .+)?|No action needed|With .+)\.\*\*$`)

// TestRunbooksAreComplete: each runbook fits on a screen, begins by saying whether the alert can wait, and has all sections.
func TestRunbooksAreComplete(t *testing.T) {
	for _, a := range alerts.All() {
		page := string(alerts.RunbookPage(a, alerts.Config{}))
		lines := strings.Split(strings.TrimSpace(page), "\n")
		if len(lines) > screen {
			t.Errorf("%s: %d lines, want at most %d", a.Name, len(lines), screen)
		}
		if len(lines) < 4 || !firstLine.MatchString(lines[3]) {
			t.Errorf("%s begins with %q", a.Name, lines[:4])
		}
		if placeholder.MatchString(page) {
			t.Errorf("%s: %s is not filled in", a.Name, placeholder.FindString(page))
		}
		r := a.Runbook
		if len(r.Commands) != 3 {
			t.Errorf("%s: %d commands, want three", a.Name, len(r.Commands))
		}
		if len(r.Queries) == 0 || len(r.Causes) == 0 {
			t.Errorf("%s: %d queries, %d causes", a.Name, len(r.Queries), len(r.Causes))
		}
		for title, steps := range map[string][]alerts.Step{"Commands": r.Commands, "Queries": r.Queries} {
			_, section, _ := strings.Cut(page, "\n## "+title+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			for i, number := range stepNumber.FindAllString(section, -1) {
				if want := fmt.Sprintf("%d. ", i+1); number != want || i >= len(steps) {
					t.Errorf("%s: step %q of %s, want %q of %d", a.Name, number, title, want, len(steps))
				}
			}
		}
		for _, s := range r.Commands {
			if logs := logsCommand.FindStringSubmatch(s.Code); strings.Contains(s.Code, " logs ") && (logs == nil || !podVariable.MatchString(logs[1])) {
				t.Errorf("%s: %q does not read the log of a Pod of the alert", a.Name, s.Code)
			}
		}
		for _, s := range slices.Concat(r.Commands, r.Queries) {
			if s.Text == "" || s.Code == "" || strings.Contains(s.Code, "\n") {
				t.Errorf("%s: %q is not a step with one line of code", a.Name, s)
			}
		}
		if !strings.Contains(page, "\n\n**Impact:** ") {
			t.Errorf("%s: the page lacks the impact", a.Name)
		}
		if !strings.Contains(page, "**Resolves** ") || !strings.Contains(page, "**Escalate** to ") {
			t.Errorf("%s: the page lacks its end or its contact", a.Name)
		}
	}
}

// TestUrgency: the first line follows the severity in effect.
func TestUrgency(t *testing.T) {
	for severity, want := range map[catalog.Severity]string{
		catalog.Page: "**Act now.**", catalog.Ticket: "**Can wait until morning, unless ", catalog.Info: "**No action needed.**",
	} {
		targets, err := catalog.NewTargets(map[string]catalog.Override{catalog.Objectives.WatchDown.ID: {Severity: severity}})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := alerts.ByName("InformerWatchDown")
		for _, c := range []alerts.Config{{Targets: targets}, {Targets: targets, Severities: map[string]string{"page": "critical", "ticket": "warning"}}} {
			if page := string(alerts.RunbookPage(a, c)); !strings.Contains(page, "\n\n"+want) {
				t.Errorf("%s: want %q in\n%s", severity, want, page)
			}
		}
	}
}

// TestDocumentedActions: the runbook of each documented threshold begins its causes with the documented action (S49).
func TestDocumentedActions(t *testing.T) {
	for alert, action := range map[string]string{
		"InformerSyncLagHigh":      "Load of the API server",
		"InformerWatchDisconnects": "The network",
		"ControllerQueueDeep":      "add workers",
		"ControllerWriteConflicts": "A stale informer",
	} {
		a, ok := alerts.ByName(alert)
		if !ok || !strings.Contains(a.Runbook.Causes[0], action) {
			t.Errorf("%s: the first cause is %q, want %q in it", alert, a.Runbook.Causes[:1], action)
		}
	}
}

// TestDocumentedThresholds: every objective has a source and an alert (T1). The threshold of the cache delay, which the articles leave
// empty, is ours (S50).
func TestDocumentedThresholds(t *testing.T) {
	documented := 0
	for _, o := range catalog.Objectives.All() {
		if o.Source.From == "" || o.Source.From != catalog.Ours && o.Source.Text == "" {
			t.Errorf("%s has the source %+v", o.ID, o.Source)
		}
		if o.Source.From == catalog.Articles {
			documented++
		}
		if !slices.ContainsFunc(alerts.All(), func(a alerts.Alert) bool { return a.Objective.ID == o.ID }) {
			t.Errorf("no alert has the objective %s", o.ID)
		}
	}
	if documented < 15 || !strings.Contains(catalog.Objectives.EventLag.Source.Differs, "ours") {
		t.Errorf("%d documented objectives; event lag is from %+v", documented, catalog.Objectives.EventLag.Source)
	}
}
