package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var (
	requirement = regexp.MustCompile(`(?m)^\| ([SPBO][0-9]+) \| .*$`)
	metricName  = regexp.MustCompile("`((?:k8s|controller|workqueue|leader_election|informer)_[a-z0-9_]+)")
	alertName   = regexp.MustCompile(`\b(?:Informer|Controller|Cluster)[A-Z][A-Za-z]+\b`)
	testName    = regexp.MustCompile(`\b(?:Test|Benchmark)[A-Z][A-Za-z]+\b`)
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Z]\w*)\(`)
)

// TestRequirements resolves docs/requirements.md: each id has one row, and what the rows name exists.
func TestRequirements(t *testing.T) {
	page := pages(t)["docs/requirements.md"]
	rows := map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(page, -1) {
		if _, ok := rows[m[1]]; ok {
			t.Errorf("%s has two rows", m[1])
		}
		rows[m[1]] = m[0]
	}
	for letter, last := range map[string]int{"S": 42, "P": 10, "B": 11, "O": 7} {
		for i := range last {
			if id := fmt.Sprint(letter, i+1); rows[id] == "" {
				t.Errorf("%s has no row", id)
			}
		}
	}
	if len(rows) != 42+10+11+7 {
		t.Errorf("%d rows, want one for each id", len(rows))
	}
	for _, m := range catalog.All() {
		for _, id := range m.Covers {
			if !strings.Contains(rows[id], "`"+m.Name+"`") {
				t.Errorf("%s covers %s, whose row does not name it", m.Name, id)
			}
		}
	}
}

// What the documentation calls a metric, an alert or a test is one.
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

// notMetrics are labels that begin like metrics.
var notMetrics = []string{"informer_type"}
