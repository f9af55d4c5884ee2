package alerts

import (
	"cmp"
	"maps"
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

// Rules returns every group of rules for a valid configuration, recording rules first.
func Rules(c Config) []Group {
	groups, long := map[catalog.Family]*Group{}, map[catalog.Family]*Group{}
	add := func(to map[catalog.Family]*Group, f catalog.Family, rules ...Rule) {
		if len(rules) == 0 {
			return
		}
		if to[f] == nil {
			to[f] = &Group{Name: "informer-exporter." + groupName(f)}
		}
		to[f].Rules = append(to[f].Rules, rules...)
	}
	enabled := slices.DeleteFunc(All(), func(a Alert) bool { return !c.Enabled(a) })
	recorded := map[string]bool{}
	for _, a := range enabled {
		record := func(to map[catalog.Family]*Group, rules func(catalog.Objective, Config) []Rule) {
			if rules == nil {
				return
			}
			for _, r := range rules(c.Targets.Of(a.Objective), c) {
				if !recorded[r.Record] { // not yet recorded for another alert
					add(to, a.Objective.Metric.Family, r)
				}
				recorded[r.Record] = true
			}
		}
		record(long, a.long)
		record(groups, a.record)
	}
	for _, a := range enabled {
		add(groups, a.Objective.Metric.Family, a.rules(c)...)
	}
	list := make([]Group, 0, len(groups))
	for _, f := range slices.SortedFunc(maps.Keys(groups), byReadingOrder) {
		if g := long[f]; g != nil {
			g.Name += longSuffix
			g.Interval = catalog.FormatDuration(tile)
			list = append(list, *g)
		}
		list = append(list, *groups[f])
	}
	if len(c.Groups) == 0 || slices.Contains(c.Groups, fleetGroup) {
		list = append(list, Group{Name: "informer-exporter." + fleetGroup, Rules: fleetRules(c)})
	}
	if c.Watchdog {
		list = append(list, c.watchdog())
	}
	return list
}

func groupName(f catalog.Family) string {
	return strings.ReplaceAll(strings.ToLower(string(f)), " ", "-")
}

// groupNames returns the names of the groups that Config.Groups may have.
func groupNames() []string {
	var list []string
	for _, a := range All() {
		if name := groupName(a.Objective.Metric.Family); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return append(list, fleetGroup)
}

func byReadingOrder(a, b catalog.Family) int {
	families := catalog.Families()
	return cmp.Compare(slices.Index(families, a), slices.Index(families, b))
}

// RuleFile returns the groups as a Prometheus rule file.
func RuleFile(c Config) ([]byte, error) {
	return yaml.Marshal(struct {
		Groups []Group `json:"groups"`
	}{Rules(c)})
}
