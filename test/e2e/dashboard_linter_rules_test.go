package e2e_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

func templateDatasource(m boardModel) []string {
	var found []variableModel
	for _, v := range m.Templating.List {
		if v.Type == "datasource" {
			found = append(found, v)
		}
	}
	if len(found) != 1 || found[0].Name != "datasource" || found[0].Label != "Data source" || found[0].Query != "prometheus" {
		return []string{`there must be exactly one data source variable, datasource, labeled "Data source", for Prometheus`}
	}
	return nil
}

func templateTarget(name, label string) func(boardModel) []string {
	return func(m boardModel) []string {
		if m.UID == dashboards.FleetUID { // reads no series of processes
			return nil
		}
		i := slices.IndexFunc(m.Templating.List, func(v variableModel) bool { return v.Name == name })
		if i < 0 {
			return []string{"there is no variable " + name}
		}
		v := m.Templating.List[i]
		if v.Type != "query" || v.Label != label || !v.Multi || v.AllValue != ".+" || !fromVariable(v.Datasource) {
			return []string{fmt.Sprintf("variable %s must be a query of ${datasource}, labeled %q, with many values and .+ for All", name, label)}
		}
		return nil
	}
}

func templateLabelPromQL(m boardModel) []string {
	var found []string
	for _, v := range m.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(v.Definition)
		if parts == nil {
			found = append(found, fmt.Sprintf("variable %s is not a label_values() query: %s", v.Name, v.Definition))
		} else if _, err := parser.NewParser(parser.Options{}).ParseExpr(withInterval(parts[1])); err != nil {
			found = append(found, fmt.Sprintf("variable %s: %v", v.Name, err))
		}
	}
	return found
}

func templateReload(m boardModel) []string {
	var found []string
	for _, v := range m.Templating.List {
		if v.Type == "query" && v.Refresh != 2 {
			found = append(found, "variable "+v.Name+" does not reload when the time range changes")
		}
	}
	return found
}

func fromVariable(d *refModel) bool { return d != nil && d.UID == "${datasource}" }

func panelDatasource(p panelModel) string {
	if !fromVariable(p.Datasource) {
		return "does not use ${datasource}"
	}
	return ""
}

func targetDatasource(t targetModel) string {
	if !fromVariable(t.Datasource) {
		return "does not use ${datasource}"
	}
	return ""
}

func panelTitleDescription(p panelModel) string {
	if p.Title == "" || len(p.Description) < 40 {
		return "needs a title and a description that helps"
	}
	return ""
}

func panelUnits(p panelModel) string {
	if p.FieldConfig.Defaults.Unit == "" {
		return "has no unit"
	}
	return ""
}

func panelNoTargets(p panelModel) string {
	if len(p.Targets) == 0 {
		return "has no query"
	}
	return ""
}

func targetPromQL(t targetModel) string {
	if _, err := parser.NewParser(parser.Options{}).ParseExpr(withInterval(t.Expr)); err != nil {
		return err.Error()
	}
	return ""
}

// targetRateInterval: an increase may be over the window of an objective about that metric. A graph of an objective such as
// "four in 15 minutes" needs this window.
func targetRateInterval(v *parser.VectorSelector, path []parser.Node) string {
	if len(path) == 0 {
		return "" // a recorded series, unchanged
	}
	over, ok := path[len(path)-1].(*parser.MatrixSelector)
	if !ok || over.Range == unusualInterval || over.Range == unusualRange {
		return ""
	}
	if directCall(path) == "increase" && slices.ContainsFunc(catalog.Objectives.All(), func(o catalog.Objective) bool {
		return o.Metric.Name == v.Name && o.Window == over.Range
	}) {
		return ""
	}
	// client-go's gauge of leadership: its changes stand in for a counter.
	if v.Name == catalog.UpstreamLeaderStatus.Name && over.Range == catalog.Objectives.LeaderChanges.Window {
		return ""
	}
	return v.Name + " has a fixed range, not $__rate_interval"
}

func targetMatcher(label string) func(*parser.VectorSelector, []parser.Node) string {
	return func(v *parser.VectorSelector, _ []parser.Node) string {
		want := "$" + label
		switch {
		case (strings.Contains(v.Name, ":") || strings.HasPrefix(v.Name, "apiserver_") || strings.HasPrefix(v.Name, "kube_") || v.Name == "process_start_time_seconds") && label != "cluster":
			return "" // recorded by cluster, or of the API server or kube-state-metrics, which are separate jobs
		case strings.HasPrefix(v.Name, "ALERTS") && label != "cluster": // may be about all processes
			want += "|"
		}
		if !slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool {
			// One cluster is chosen, and any number of jobs and instances.
			return m.Name == label && m.Value == want && (strings.Contains(v.Name, ":") || m.Type == map[bool]labels.MatchType{true: labels.MatchEqual, false: labels.MatchRegexp}[label == "cluster"])
		}) {
			return fmt.Sprintf(`%s lacks the matcher for $%s`, v.Name, label)
		}
		return ""
	}
}

// targetCounterAgg also compares a query with the catalog.
func targetCounterAgg(m boardModel) []string {
	recorded, err := recordings()
	if err != nil {
		return []string{err.Error()}
	}
	return eachTarget(func(t targetModel) string {
		if _, err := checkQuery(m.all().Replace(t.Expr), recorded); err != nil {
			return err.Error()
		}
		return ""
	})(m)
}

func uneditable(m boardModel) []string {
	if m.Editable == nil || *m.Editable {
		return []string{"changes in the browser would be lost; set editable to false"}
	}
	return nil
}
