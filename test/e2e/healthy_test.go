package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// maxTickets is the number of tickets that the operations of eight hours in a healthy cluster may raise.
const maxTickets = 0

// rightTickets are the alerts that fire in the recording of a healthy cluster, with the reason why each is right.
var rightTickets = map[string]string{}

var healthyFile = filepath.Join("testdata", "healthy.yaml.gz")

// readHealthy reads the recording once: it has thousands of series. Tests change only copies.
var readHealthy = sync.OnceValues(func() (recording.Recording, error) {
	content, err := os.ReadFile(healthyFile)
	if err != nil {
		return recording.Recording{}, err
	}
	return recording.UnmarshalCompressed(content)
})

func healthyRecording(t *testing.T) recording.Recording {
	t.Helper()
	r, err := readHealthy()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHealthyClusterIsQuiet evaluates every generated rule on the recording of a healthy cluster: rolling restarts, deploys,
// leader handovers, changes of CustomResourceDefinitions, node drains, programs scaled to zero and back. It has the
// operations of eight hours at ten times their rate. Nothing pages, and no ticket is raised.
func TestHealthyClusterIsQuiet(t *testing.T) {
	t.Parallel()
	r := healthyRecording(t)
	if least := 48 * time.Minute; time.Duration(r.Len()-1)*r.Interval < least {
		t.Errorf("the recording has %d steps of %v, less than %v", r.Len(), r.Interval, least)
	}
	tickets := map[string]int{}
	for _, a := range firedAlerts(t, r, rulesFile) {
		t.Log(a)
		switch a.labels.Get("severity") {
		case string(catalog.Page):
			t.Errorf("a page: %v", a)
		case string(catalog.Ticket):
			tickets[a.labels.Get(model.AlertNameLabel)]++
			if rightTickets[a.labels.Get(model.AlertNameLabel)] == "" {
				t.Errorf("a ticket without a reason: %v", a)
			}
		}
	}
	all := 0
	for name, n := range tickets {
		all += n
		t.Logf("%d tickets %s: %s", n, name, rightTickets[name])
	}
	if all > maxTickets {
		t.Errorf("%d tickets, more than %d: %v", all, maxTickets, tickets)
	}
	for name := range rightTickets {
		if tickets[name] == 0 {
			t.Errorf("%s does not fire: remove it from rightTickets", name)
		}
	}
}

// TestHealthyRecordingIsOfTheRules verifies that the recording reveals no machine, and has the informers' metrics that the rules
// read, so that a renamed metric does not make it quiet.
func TestHealthyRecordingIsOfTheRules(t *testing.T) {
	t.Parallel()
	const most = 2 << 20
	info, err := os.Stat(healthyFile)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("%s has %d bytes, more than %d", healthyFile, info.Size(), most)
	}
	have := map[string]bool{}
	r := healthyRecording(t)
	for _, s := range r.Series {
		have[s.Labels.Get(model.MetricNameLabel)] = true
		s.Labels.Range(func(l labels.Label) {
			if strings.Contains(l.Value, "127.0.0.1") {
				t.Errorf("the label %s=%q reveals a machine", l.Name, l.Value)
			}
		})
	}
	reads, err := recording.ReadBy(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	// These have no series in a healthy cluster: nothing is duplicated, ended or orphaned, no informer has a transform or reads its cache too
	// early or loses events. It was recorded without objects of other namespaces and with the exporter, which does not report handlers.
	absent := []string{
		catalog.InformerDuplicates.Name, catalog.InformerEnded.Name, catalog.InformerOrphans.Name, catalog.InformerTransformDrops.Name,
		catalog.InformerForeignObjects.Name, catalog.InformerUnsyncedReads.Name, catalog.InformerHandlers.Name,
		catalog.InformerResyncPeriods.Name, catalog.InformerEventsLost.Name, catalog.InformerTransformConflicts.Name, catalog.InformerTransforms.Name,
	}
	if name := catalog.UpstreamStoreResourceVersion.Name; !have[name] {
		t.Errorf("the recording does not have %s, by which ControllerCacheBehind judges programs without the library", name)
	}
	for _, name := range reads.Names() {
		if ofInformers := strings.HasPrefix(name, "k8s_informer_"); ofInformers && !have[name] && !slices.Contains(absent, name) {
			t.Errorf("rules read %s, which the recording does not have", name)
		}
	}
}

// TestHealthyReplayFindsProblems verifies that a page on the same metrics would be found.
func TestHealthyReplayFindsProblems(t *testing.T) {
	t.Parallel()
	r := healthyRecording(t)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	const content = `groups:
- name: hasty
  rules:
  - alert: HastyLeaseExpired
    expr: k8s_lease_expired > 0
    labels: {severity: page}
`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	found := firedAlerts(t, r, file)
	if len(found) == 0 || found[0].labels.Get("severity") != string(catalog.Page) {
		t.Errorf("a page for each Lease without a holder is not found: %v", found)
	}
}

// firedAlert is one alert and the times at which it fired.
type firedAlert struct {
	labels   labels.Labels
	from, to time.Duration // since the start of the recording
	most     float64       // the greatest value
}

func (a firedAlert) String() string {
	return fmt.Sprintf("%s %s from %v to %v: %v", a.labels.Get("severity"), a.labels.Get(model.AlertNameLabel), a.from, a.to, a.labels)
}

// firedAlerts returns the alerts of all rules of a file during a recording, ordered by their start. An alert that fires
// twice with the same labels counts once if the gap is shorter than an evaluation interval.
func firedAlerts(t *testing.T, r recording.Recording, rulesFile string) []firedAlert {
	t.Helper()
	groups := loadRules(t, r, rulesFile)
	var done []firedAlert
	fires := map[string]firedAlert{}
	for step := 0; step < r.Len(); step += max(1, int(evaluation/r.Interval)) {
		if !r.Scraped(step) { // Prometheus is down
			continue
		}
		since := time.Duration(step) * r.Interval
		at := r.Start.Add(since)
		now := map[string]bool{}
		for _, g := range groups {
			g.Eval(t.Context(), at)
			for _, rule := range g.Rules() {
				if err := rule.LastError(); err != nil {
					t.Errorf("step %d: %s: %v", step, rule.Name(), err)
				}
				alerting, ok := rule.(*rules.AlertingRule)
				if !ok {
					continue
				}
				for _, a := range alerting.ActiveAlerts() {
					if a.State != rules.StateFiring {
						continue
					}
					key := a.Labels.String()
					now[key] = true
					f, ok := fires[key]
					if !ok {
						f = firedAlert{labels: a.Labels, from: since}
					}
					f.to, f.most = since, max(f.most, a.Value)
					fires[key] = f
				}
			}
		}
		for key, f := range fires {
			if !now[key] {
				done = append(done, f)
				delete(fires, key)
			}
		}
	}
	done = slices.AppendSeq(done, maps.Values(fires))
	slices.SortFunc(done, func(a, b firedAlert) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return strings.Compare(a.labels.String(), b.labels.String())
	})
	return done
}
