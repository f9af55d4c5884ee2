package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

var (
	metricName = regexp.MustCompile("`((?:k8s|controller|workqueue|leader_election|informer)_[a-z0-9_]+)")
	alertName  = regexp.MustCompile(`\b(?:Informer|Controller|Cluster)[A-Z][A-Za-z]+\b`)
	testName   = regexp.MustCompile(`\b(?:Test|Benchmark)[A-Z][A-Za-z]+\b`)
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Z]\w*)\(`)
)

// TestRequirements verifies docs/requirements.md: its tables are up to date, and every ID is met.
func TestRequirements(t *testing.T) {
	found, err := findEvidence(root)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for letter, last := range map[string]int{"S": 52, "P": 11, "B": 11, "O": 8, "T": 1} {
		rows += last
		for i := range last {
			if id := fmt.Sprint(letter, i+1); found[id] == nil {
				t.Errorf("%s has no row", id)
			}
		}
	}
	if len(found) != rows {
		t.Errorf("%d rows, want one for each ID", len(found))
	}
	for _, s := range sections {
		for _, r := range s.rows {
			if unmet := found[r.id].state(r) == unmet; unmet != slices.Contains(open, r.id) {
				t.Errorf("%s is open: %v; %d tests, %d alerts, %d panels", r.id, unmet, len(found[r.id].tests), len(found[r.id].alerts), len(found[r.id].panels))
			}
		}
	}
	tables, err := Requirements(root)
	if err != nil {
		t.Fatal(err)
	}
	text := pages(t)["docs/requirements.md"]
	for marker, table := range tables {
		want, err := page.Replace(text, marker, table)
		if err != nil {
			t.Fatal(err)
		}
		if want != text {
			t.Errorf("the table %s of docs/requirements.md is stale: run make generate", marker)
		}
	}
}

// A few IDs have the expected evidence, so that a change of the search is detected.
func TestEvidence(t *testing.T) {
	found, err := findEvidence(root)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct{ metric, pkg, alert, panel, test string }{
		"S1":  {metric: "k8s_informer_cache_misses_total", pkg: "collectors/informer", panel: "Informers / Detail: ", test: "TestListersOfTheFactoryCount"},
		"S5":  {metric: "k8s_informer_sync_lag_seconds", alert: "InformerSyncLagHigh", panel: "Informers / Fleet: ", test: "TestStalledWatch"}, // a panel that reads a recording rule
		"S10": {metric: "controller_leader_transitions_total", pkg: "collectors/leader", alert: "ControllerLeaderMissing", test: "TestLockCounts"},
		"B5":  {metric: "k8s_informer_unchanged_updates_total", test: "BenchmarkResync"},
	} {
		e := found[id]
		for _, got := range []struct {
			list []string
			want string
		}{{e.metrics, want.metric}, {e.packages, want.pkg}, {e.alerts, want.alert}, {e.panels, want.panel}, {e.tests, want.test}} {
			if !slices.ContainsFunc(got.list, func(s string) bool { return strings.HasPrefix(s, got.want) }) && got.want != "" {
				t.Errorf("%s has %q, want %q among them", id, got.list, got.want)
			}
		}
	}
	if !found["S15"].decided || found["S7"].decided {
		t.Error("docs/dev/decisions.md must have S15, and not S7")
	}
}

// Every metric, alert and test that the documentation names exists.
func TestNames(t *testing.T) {
	metrics, tests := map[string]bool{}, map[string]bool{}
	for _, m := range catalog.All() {
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			metrics[m.Name+suffix] = true
		}
	}
	for path, source := range sources(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range testFunc.FindAllStringSubmatch(source, -1) {
				tests[m[1]] = true
			}
		}
	}
	for path, page := range pages(t) {
		if path == "CHANGELOG.md" { // it names what has been removed
			continue
		}
		for _, m := range metricName.FindAllStringSubmatch(page, -1) {
			prefix := strings.HasSuffix(m[1], "_") && slices.ContainsFunc(catalog.All(), func(c catalog.Metric) bool { return strings.HasPrefix(c.Name, m[1]) })
			if !metrics[m[1]] && !prefix && !slices.Contains(notMetrics, m[1]) {
				t.Errorf("%s: there is no metric %s", path, m[1])
			}
		}
		for _, name := range alertName.FindAllString(page, -1) {
			if _, ok := alerts.ByName(name); !ok && !slices.Contains(notAlerts, name) {
				t.Errorf("%s: there is no alert %s", path, name)
			}
		}
		for _, name := range testName.FindAllString(page, -1) {
			if !tests[name] {
				t.Errorf("%s: there is no %s", path, name)
			}
		}
	}
}

// notAlerts are other names that begin like those of alerts.
var notAlerts = []string{"ClusterRole", "ClusterRoles", "ClusterRoleBinding", "InformerFor", "InformerTypes", "InformerName", "InformerOptions"}

// notMetrics are labels that begin like metrics, and names that Decisions explains.
var notMetrics = []string{"informer_type", "informer_event_lag_seconds", "informer_sync_errors_total", "controller_workqueue_depth"}
