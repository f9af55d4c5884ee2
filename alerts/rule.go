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
	Name  string `json:"name"`
	Rules []Rule `json:"rules"`
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

// Labels and annotations that every alert has.
const (
	SeverityLabel         = "severity"
	SummaryAnnotation     = "summary"
	DescriptionAnnotation = "description"
	RunbookAnnotation     = "runbook_url"
	DashboardAnnotation   = "dashboard_url"
)

// Rules returns every group of rules for a valid configuration, recording rules first.
func Rules(c Config) []Group {
	groups := make(map[catalog.Family]*Group)
	add := func(f catalog.Family, rules ...Rule) {
		if len(rules) == 0 {
			return
		}
		if groups[f] == nil {
			groups[f] = &Group{Name: "informer-exporter." + groupName(f)}
		}
		groups[f].Rules = append(groups[f].Rules, rules...)
	}
	enabled := slices.DeleteFunc(All(), func(a Alert) bool { return !c.Enabled(a) })
	recorded := map[string]bool{}
	for _, a := range enabled {
		if a.record == nil {
			continue
		}
		for _, r := range a.record(c.Targets.Of(a.Objective), c) {
			if !recorded[r.Record] { // by another alert that reads it
				add(a.Objective.Metric.Family, r)
			}
			recorded[r.Record] = true
		}
	}
	for _, a := range enabled {
		add(a.Objective.Metric.Family, a.rules(c)...)
	}
	list := make([]Group, 0, len(groups))
	for _, f := range slices.SortedFunc(maps.Keys(groups), byReadingOrder) {
		list = append(list, *groups[f])
	}
	return list
}

func groupName(f catalog.Family) string {
	return strings.ReplaceAll(strings.ToLower(string(f)), " ", "-")
}

// groupNames returns the names of the groups that hold alerts.
func groupNames() []string {
	var list []string
	for _, a := range All() {
		if name := groupName(a.Objective.Metric.Family); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
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
