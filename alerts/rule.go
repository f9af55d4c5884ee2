package alerts

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Group is a group of rules as Prometheus reads it.
type Group struct {
	Name string `json:"name"`
	// Interval is how often the rules are evaluated, empty for Prometheus' evaluation_interval.
	Interval string `json:"interval,omitempty"`
	Rules    []Rule `json:"rules"`
}

// Rule is a recording or an alerting rule as Prometheus reads it. Exactly one of Record and Alert is set.
type Rule struct {
	Record        string            `json:"record,omitempty"`
	Alert         string            `json:"alert,omitempty"`
	Expr          string            `json:"expr"`
	For           string            `json:"for,omitempty"`
	KeepFiringFor string            `json:"keep_firing_for,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// Labels and annotations of alerts. SeverityLabel is the name of the label unless Config.Severities changes it.
const (
	SeverityLabel         = "severity"
	SummaryAnnotation     = "summary"
	DescriptionAnnotation = "description"
	RunbookAnnotation     = "runbook_url"
	DashboardAnnotation   = "dashboard_url"
	// VariablesAnnotation sets the shell variables of the runbook to the labels of the alert.
	VariablesAnnotation = "runbook_variables"
	// ExploreAnnotation is the URL of the queries of the runbook, if the URL of Grafana is known.
	ExploreAnnotation = "explore_url"
)

// fleetGroup is the group of recording rules for many clusters, which no alert reads.
const fleetGroup = "fleet"

// Rules returns every group of rules for a valid configuration, recording rules first.
func Rules(c Config) []Group {
	b := loaded()
	rules := map[string][]Rule{}
	done := map[string]bool{}
	enabled := slices.DeleteFunc(All(), func(a Alert) bool { return !c.Enabled(a) })
	filled := make([][]Rule, len(enabled))
	for i, a := range enabled {
		filled[i] = a.filled(c)
		for _, d := range b.read(filled[i], newText(c.Targets.Of(a.Objective), c)) {
			group := d.group
			if !c.keeps(group) {
				group = a.group
			}
			if !done[d.Record] { // not yet recorded for another alert
				rules[group] = append(rules[group], d.Rule)
			}
			done[d.Record] = true
		}
	}
	for i, a := range enabled {
		rules[a.group] = append(rules[a.group], filled[i]...)
	}
	if c.keeps(fleetGroup) {
		for _, d := range b.records {
			if d.group == fleetGroup {
				rules[fleetGroup] = append(rules[fleetGroup], newText(catalog.Objective{}, c).record(d).Rule)
			}
		}
	}
	var list []Group
	for _, g := range b.groups {
		if len(rules[g.Name]) > 0 {
			list = append(list, Group{Name: "informer-exporter." + g.Name, Interval: g.Interval, Rules: rules[g.Name]})
		}
	}
	if c.Watchdog {
		list = append(list, c.watchdog())
	}
	return list
}

// recorded matches the names of recorded series.
var recorded = regexp.MustCompile(`[a-z_]+:[a-z0-9_:]+`)

// read returns the recording rules that rules read, directly or through another one, filled in for the objective of their alert.
func (b book) read(rules []Rule, t text) (list []definition) {
	words := map[string]bool{}
	add := func(expr string) {
		for _, word := range recorded.FindAllString(expr, -1) {
			words[word] = true
		}
	}
	for _, r := range rules {
		add(r.Expr)
	}
	if len(words) == 0 {
		return nil
	}
	for _, d := range slices.Backward(b.records) {
		if words[t.fill(d.Record)] {
			d = t.record(d)
			add(d.Expr)
			list = append(list, d)
		}
	}
	slices.Reverse(list)
	return list
}

// record fills in a recording rule.
func (t text) record(d definition) definition {
	d.Record, d.Expr = t.fill(d.Record), t.fill(d.Expr)
	return d
}

func groupName(f catalog.Family) string {
	return strings.ReplaceAll(strings.ToLower(string(f)), " ", "-")
}

// groupNames returns the names of the groups that Config.Groups may have.
func groupNames() (list []string) {
	for _, g := range loaded().groups {
		if name := family(g.Name); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// mutedAlerts returns an expression for the alerts that an inhibition mutes, or mutes once they fire. As in Alertmanager, an alert that is
// itself muted mutes others, and labels that both alerts lack are equal.
func mutedAlerts(c Config) string {
	list := inhibitions(c)
	terms := make([]string, len(list))
	for i, r := range list { // Alertmanager's matchers are also PromQL's
		terms[i] = `ALERTS{` + strings.Join(r.TargetMatchers, ", ") + `} and on (` + strings.Join(r.Equal, ", ") + `) ALERTS{alertstate="firing", ` + strings.Join(r.SourceMatchers, ", ") + `}`
	}
	return strings.Join(terms, "\nor\n")
}

// RuleFile returns the groups as a Prometheus rule file.
func RuleFile(c Config) ([]byte, error) {
	return yaml.Marshal(struct {
		Groups []Group `json:"groups"`
	}{Rules(c)})
}
