package alerts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var increases = regexp.MustCompile(`increase\(([a-z0-9_]+)\{([^}]*)\}`)

// An increase does not see the first value of a series. Values that a rule selects therefore exist at 0, unless the rule counts the first
// value itself (prom.Occurred).
func TestSelectedValuesExistAtZero(t *testing.T) {
	found := 0
	for _, r := range rules(alerts.Config{}) {
		for _, use := range increases.FindAllStringSubmatch(r.Expr, -1) {
			m, ok := catalog.ByName(use[1])
			if !ok || m.Foreign() || len(m.Labels) == 0 {
				continue
			}
			label := m.Labels[len(m.Labels)-1]
			selected := regexp.MustCompile(`\b` + label.Name + `=~?"([^"]*)"`).FindStringSubmatch(use[2])
			if selected == nil {
				continue
			}
			for _, value := range label.Values {
				matches := regexp.MustCompile("^(?:" + selected[1] + ")$").MatchString(value)
				if first := strings.Contains(r.Expr, strings.TrimPrefix(use[0], "increase(")+" offset "); matches && !first && !slices.Contains(m.AtZero, value) {
					t.Errorf("%s%s counts %s of %s, which does not exist at 0", r.Alert, r.Record, value, m.Name)
				} else if matches {
					found++
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d values found", found)
	}
}

// Metrics of InformerCoverageGap, InformerHandlersGrow and InformerStaleAfterRestart, which need full detail: their series would exceed the
// budget of an informer with little detail.
var fullDetail = map[string]bool{
	catalog.InformerCoverageGap.Name:     true,
	catalog.InformerHandlers.Name:        true,
	catalog.InformerResourceVersion.Name: true,
}

// Programs with little detail report what alerts of severity page and ticket read, and the number of objects.
func TestEssentialMetrics(t *testing.T) {
	names := regexp.MustCompile(`[a-z_:0-9]+`)
	records := map[string]string{}
	var exprs []string
	for _, r := range rules(alerts.Config{}) {
		if s := r.Labels["severity"]; s == "page" || s == "ticket" {
			exprs = append(exprs, r.Expr)
		}
		records[r.Record] = r.Expr
	}
	read := map[string]bool{catalog.InformerObjects.Name: true}
	for len(exprs) > 0 {
		for _, name := range names.FindAllString(exprs[0], -1) {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				read[strings.TrimSuffix(name, suffix)] = true
			}
			if expr, ok := records[name]; ok {
				exprs = append(exprs, expr)
				delete(records, name)
			}
		}
		exprs = exprs[1:]
	}
	for _, m := range catalog.All() {
		if fullDetail[m.Name] {
			continue
		}
		byLibrary := slices.ContainsFunc([]string{"k8s_informer_", "controller_", "k8s_client_"}, func(p string) bool { return strings.HasPrefix(m.Name, p) })
		if byLibrary && !m.Foreign() && m.Essential != read[m.Name] {
			t.Errorf("%s is essential: %t; alerts of severity page and ticket read it: %t", m.Name, m.Essential, read[m.Name])
		}
	}
}
