package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/reason"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// truth has what the decorators showed of each informer of the shared API server, by its user agent.
var truth struct {
	sync.Mutex
	of map[string]seen
}

// seen counts what was seen of an informer, by its decorators or in the audit log: "opened", "gaps", "end …" and "relist …".
type seen map[string]int

// remember returns a user agent for the informer's client. At the end of the test, what the decorators have shown is remembered.
func (r *rig) remember(o options) (agent string) {
	agent = strings.NewReplacer("/", ".", " ", "_", "(", "", ")", "").Replace(r.Name())
	if o.server.Host != stacktest.Config(r).Host {
		return agent
	}
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

// compareWithAuditLog compares what the audit log shows of each informer with what its decorators showed.
func compareWithAuditLog(log string, update bool) error {
	files, err := report.Open([]string{log}, nil)
	if err != nil {
		return err
	}
	r, err := report.Of(context.Background(), files, report.Options{})
	if err != nil {
		return err
	}
	observed := map[string]seen{}
	for _, c := range r.Clients {
		s := seen{}
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
		observed[c.Agent] = s
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
		limit := limits[test]
		if len(differences) > 0 && limit == "" {
			failed = append(failed, fmt.Errorf("%s: %s", agent, strings.Join(differences, ", ")))
		}
		shown := "equal"
		if len(differences) > 0 {
			shown = strings.Join(differences, "<br>")
		} else {
			limit = ""
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", agent, shown, limit)
	}
	slog.Info("audit log compared", "informers", compared)
	if update {
		failed = append(failed, os.WriteFile(auditTable, []byte(table), 0o644))
	}
	return errors.Join(failed...)
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
			all = append(all, fmt.Sprintf("%s %d, %d", key, s[key], observed[key]))
		}
	}
	return all
}

// limits are the tests of which the audit log cannot show everything, and why.
var limits = map[string]string{
	"TestCutConnection":                         refusedConnection,
	"TestDeadConnectionIsFoundByPings":          inStream,
	"TestDeleteLostOnTheWay":                    inStream,
	"TestDeleteMissedDuringAGap":                refusedConnection + "; " + inStream,
	"TestExpiredVersion":                        inStream,
	"TestForbidden":                             "a streaming list that fails looks like a watch",
	"TestGarbageOnTheStream":                    inStream,
	"TestHalfOpenConnectionWithFreshnessChecks": "freshness checks are watches",
	"TestRelistOfUnchangedObjects":              inStream,
	"TestResetInTheMiddleOfAnEvent":             events,
	"TestStreamingListRejected":                 answered,
	"TestThrottledWatch":                        answered,
	"TestTransformThatFailsInAList":             "of several lists before the first watch, one counts",
	"TestVeryShortWatches":                      answered,
}

// Why the audit log cannot show everything.
const (
	inStream          = "an error inside a stream is not logged"
	refusedConnection = "connections that are refused do not reach the API server"
	answered          = "responses of a proxy do not reach the API server"
	events            = "events are not logged: a watch of less than a second looks very short"
)
