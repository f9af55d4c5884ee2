package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/reason"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// truth has what the decorators showed of each informer, by its user agent.
var truth struct {
	sync.Mutex
	of map[string]seen
}

// seen counts what was seen of an informer, by its decorators or in the audit log: "opened", "gaps", "end …" and "relist …".
type seen map[string]int

// remember returns a user agent for the informer's client. At the end of the test, what the decorators have shown is remembered.
func (r *rig) remember() (agent string) {
	agent = strings.NewReplacer("/", ".", " ", "_", "(", "", ")", "").Replace(r.Name())
	r.Cleanup(func() { // before the informer stops, which deletes its series
		s := seen{}
		for series, value := range metricstest.Take(r, r.registry) {
			name, label, _ := strings.Cut(strings.TrimPrefix(series, prefix), "{")
			_, why, _ := strings.Cut(strings.TrimSuffix(label, "}"), "=")
			switch name {
			case "watches_total":
				s.add("opened", value)
			case "coverage_gap_seconds_count":
				s.add("gaps", value)
			case "watch_timeouts_total":
				s.add("end "+reason.Timeout, value)
			case "watch_disconnects_total":
				s.add("end "+why, value)
			case "relists_total":
				s.add("relist "+why, value)
			}
		}
		truth.Lock()
		defer truth.Unlock()
		if truth.of == nil {
			truth.of = map[string]seen{}
		}
		if _, again := truth.of[agent]; again {
			s = nil // two informers of one test are not told apart
		}
		if s["opened"] == 0 { // the test has stopped the informer
			s = nil
		}
		truth.of[agent] = s
	})
	return agent
}

func (s seen) add(key string, n float64) {
	if n > 0 {
		s[key] += int(n)
	}
}

// auditTable is generated.
const auditTable = "testdata/audit.md"

// compareWithAuditLogs compares what the audit logs show of each informer with what its decorators showed.
func compareWithAuditLogs(update bool) error {
	logs, err := filepath.Glob(filepath.Join(audit.dir, "*.log"))
	if err != nil {
		return err
	}
	files, err := report.Open(logs, nil)
	if err != nil {
		return err
	}
	r, err := report.Of(context.Background(), files, report.Options{})
	if err != nil {
		return err
	}
	observed := map[string]seen{}
	for _, c := range r.Clients {
		s := observed[c.Agent] // of another user, as one that was not authenticated
		if s == nil {
			s = seen{}
			observed[c.Agent] = s
		}
		for _, i := range c.Informers {
			s.add("opened", float64(i.Opened))
			s.add("gaps", float64(i.Gaps))
			for why, n := range i.Ends {
				if why != reason.ClientStop {
					s.add("end "+why, float64(n))
				}
			}
			for why, n := range i.Relists {
				s.add("relist "+why, float64(n))
			}
		}
	}
	var failed []error
	table := "| Test | Decorators and audit log | Limit |\n|---|---|---|\n"
	compared := 0
	for _, agent := range slices.Sorted(maps.Keys(truth.of)) {
		want := truth.of[agent]
		if want == nil {
			continue
		}
		compared++
		got := observed[agent[:min(len(agent), 64)]]
		differences := want.differences(got)
		test, _, _ := strings.Cut(agent, ".")
		var shown, why []string
		for _, d := range differences {
			shown = append(shown, fmt.Sprintf("%s %d, %d", d, want[d], got[d]))
			cause := limits[test][d]
			if cause == "" {
				failed = append(failed, fmt.Errorf("%s: %s %d, in the audit log %d; its lists and watches:%s", agent, d, want[d], got[d], linesOf(logs, agent)))
			}
			if !slices.Contains(why, cause) {
				why = append(why, cause)
			}
		}
		if len(shown) == 0 {
			shown = []string{"equal"}
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", agent, strings.Join(shown, "<br>"), strings.Join(why, "; "))
	}
	slog.Info("audit log compared", "informers", compared)
	if update {
		failed = append(failed, os.WriteFile(auditTable, []byte(table), 0o644))
	}
	return errors.Join(failed...)
}

// linesOf returns the lists and watches of an informer in the audit logs.
func linesOf(logs []string, agent string) (lines string) {
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(text)) {
			var e event.Event
			if ok, _ := event.DecodeLine([]byte(line), &e); ok && e.Agent == agent && (e.Verb == "list" || e.Verb == "watch") {
				lines += fmt.Sprintf("\n\t%s %s %s %d %s %s", e.At.Format(time.TimeOnly+".000000"), e.Verb, e.Stage, e.Code, e.User, e.URI)
			}
		}
	}
	return lines
}

// differences are the counts that differ.
func (s seen) differences(observed seen) (all []string) {
	keys := map[string]bool{}
	for key := range s {
		keys[key] = true
	}
	for key := range observed {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if s[key] != observed[key] {
			all = append(all, key)
		}
	}
	return all
}

// limits are the counts of tests that the audit log cannot show, and why. All others must be equal.
var limits = map[string]map[string]string{
	"TestAPIServerKilled":                       both(refusedConnection, killed),
	"TestCompaction":                            both(expiredInStream, refusedConnection),
	"TestCutConnection":                         refusedConnection,
	"TestDeadConnectionIsFoundByPings":          {"end error": inStream, "end server_close": inStream},
	"TestDeleteLostOnTheWay":                    expiredInStream,
	"TestDeleteMissedDuringAGap":                both(expiredInStream, refusedConnection),
	"TestEtcdRestored":                          both(both(expiredInStream, refusedConnection), because("freshness checks are watches", "end timeout", "gaps", "opened")),
	"TestExpiredVersion":                        expiredInStream,
	"TestGarbageOnTheStream":                    because(inStream, "end error", "end server_close", "end very_short", "relist decode", "relist watch_failed"),
	"TestHalfOpenConnectionWithFreshnessChecks": because("freshness checks are watches", "end timeout", "opened"),
	"TestRelistOfUnchangedObjects":              expiredInStream,
	"TestResetInTheMiddleOfAnEvent":             because("events are not logged: a watch of less than a second looks very short", "end server_close", "end very_short"),
	"TestSecuredMetricsInAnOutage":              both(refusedConnection, killed),
	"TestStreamingListRejected":                 because(answered, "relist fallback", "relist initial"),
	"TestThrottledWatch":                        because(answered, "end server_close", "end throttled"),
	"TestTransformThatFailsInAList":             because("of several lists before the first watch, one counts", "relist initial"),
	"TestVeryShortWatches":                      because(answered, "end server_close", "end very_short", "opened", "relist watch_failed"),
}

// Why the audit log cannot show everything.
const (
	inStream = "an error inside a stream is not logged"
	answered = "responses of a proxy do not reach the API server"
)

var (
	killed            = because("an API server that is killed does not log when its watches end", "gaps")
	refusedConnection = because("connections that are refused do not reach the API server", "end refused")
	expiredInStream   = because(inStream, "end expired", "end server_close", "end very_short", "relist expired", "relist watch_failed")
)

// because returns a reason for counts.
func because(reason string, counts ...string) map[string]string {
	reasons := map[string]string{}
	for _, c := range counts {
		reasons[c] = reason
	}
	return reasons
}

func both(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// Each difference in the table is one of the named limits.
func TestLimitsOfTheAuditLog(t *testing.T) {
	text, err := os.ReadFile(auditTable)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 || !strings.HasPrefix(line, "| Test") || cells[1] == "equal" || strings.HasPrefix(line, "| Test |") {
			continue
		}
		rows++
		test, _, _ := strings.Cut(strings.TrimPrefix(cells[0], "| "), ".")
		for difference := range strings.SplitSeq(cells[1], "<br>") {
			words := strings.Fields(difference)
			if count := strings.Join(words[:len(words)-2], " "); limits[test][count] == "" {
				t.Errorf("%s: %s is no limit of the audit log", test, count)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows with differences", rows)
	}
}
