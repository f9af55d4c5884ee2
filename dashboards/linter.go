package dashboards

import (
	"fmt"
	"slices"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/promql"
)

func templateDatasource(m model) []string {
	var found []variableModel
	for _, v := range m.Templating.List {
		if v.Type == "datasource" {
			found = append(found, v)
		}
	}
	if len(found) != 1 || found[0].Name != "datasource" || found[0].Label != "Data source" || found[0].Query != "prometheus" {
		return []string{`there must be exactly one data source variable, datasource, labelled "Data source", for Prometheus`}
	}
	return nil
}

func templateTarget(name, label string) func(model) []string {
	return func(m model) []string {
		i := slices.IndexFunc(m.Templating.List, func(v variableModel) bool { return v.Name == name })
		if i < 0 {
			return []string{"there is no variable " + name}
		}
		v := m.Templating.List[i]
		if v.Type != "query" || v.Label != label || !v.Multi || v.AllValue != ".+" || !fromVariable(v.Datasource) {
			return []string{fmt.Sprintf("variable %s must be a query of ${datasource}, labelled %q, with many values and .+ for All", name, label)}
		}
		return nil
	}
}

func templateLabelPromQL(m model) []string {
	var found []string
	for _, v := range m.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := valuesOf.FindStringSubmatch(v.Definition)
		if parts == nil {
			found = append(found, fmt.Sprintf("variable %s is no label_values(): %s", v.Name, v.Definition))
		} else if _, err := promql.Scan(parts[1]); err != nil {
			found = append(found, fmt.Sprintf("variable %s: %v", v.Name, err))
		}
	}
	return found
}

func templateReload(m model) []string {
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
	if _, err := promql.Scan(t.Expr); err != nil {
		return err.Error()
	}
	return ""
}

// targetRateInterval: an increase may be over the window of an objective about that metric. "Four in a quarter of an hour"
// cannot be drawn otherwise.
func targetRateInterval(s promql.Series) string {
	if s.Range == "" || s.Range == "$__rate_interval" {
		return ""
	}
	if s.Func == "increase" && slices.ContainsFunc(catalog.Objectives(), func(o catalog.Objective) bool {
		return o.Metric.Name == s.Name && catalog.FormatDuration(o.Window) == s.Range
	}) {
		return ""
	}
	return s.Name + " has a fixed range, not $__rate_interval"
}

func targetMatcher(label string) func(promql.Series) string {
	want := promql.Matcher{Label: label, Op: "=~", Value: "$" + label}
	return func(s promql.Series) string {
		if !slices.Contains(s.Matchers, want) {
			return fmt.Sprintf(`%s lacks the matcher %s=~"$%[2]s"`, s.Name, label)
		}
		return ""
	}
}

func targetCounterAgg(t targetModel) string {
	if err := promql.Check(t.Expr, nil); err != nil {
		return err.Error()
	}
	return ""
}

func uneditable(m model) []string {
	if m.Editable == nil || *m.Editable {
		return []string{"changes in the browser would be lost; set editable to false"}
	}
	return nil
}
