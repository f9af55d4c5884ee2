package schema2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hasData shows a panel while one of its queries returns data.
var hasData = showIf("ConditionalRenderingData", object{"value": true})

// showIf returns a rule that shows a panel or a tab while a condition is true.
func showIf(condition string, spec object) object {
	return kind("ConditionalRenderingGroup", object{"visibility": "show", "condition": "and", "items": []object{kind(condition, spec)}})
}

// selector finds a metric and its matchers in PromQL.
var selector = regexp.MustCompile(`\b([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^{}]*)\}`)

// presence returns a hidden variable with the names of those metrics of a row that exist, and a rule that shows the row's tab
// while there is one. Grafana evaluates rules about data for panels only. Label values cost a lookup in the index, and no
// samples.
func (p classicPanel) presence(from source) (variable, rule object) {
	var metrics, common []string
	for _, inside := range p.Panels {
		for _, target := range inside.Targets {
			expr, _ := target["expr"].(string)
			for _, found := range selector.FindAllStringSubmatch(expr, -1) {
				matchers := strings.Split(found[2], ", ")
				if metrics == nil {
					common = matchers
				}
				metrics = append(metrics, found[1])
				common = slices.DeleteFunc(common, func(m string) bool { return !slices.Contains(matchers, m) })
			}
		}
	}
	if metrics == nil {
		return nil, nil
	}
	slices.Sort(metrics)
	matchers := append([]string{`__name__=~"` + strings.Join(slices.Compact(metrics), "|") + `"`}, common...)
	values := "label_values({" + strings.Join(matchers, ", ") + "}, __name__)"
	q := query(from, nil)
	q["spec"] = object{"qryType": 1, "query": values, "refId": "PrometheusVariableQueryEditor-VariableQuery"}
	name := "metrics_of_row_" + strconv.Itoa(p.ID)
	variable = kind("QueryVariable", object{
		"name": name, "label": "Metrics of " + p.Title, "hide": hides[2], "skipUrlSync": true, "regex": "", "options": []object{},
		"current": object{"text": "", "value": ""}, "multi": false, "includeAll": false, "allowCustomValue": false,
		"refresh": refreshes[2], "sort": sorts[1], "definition": values, "query": q,
	})
	return variable, showIf("ConditionalRenderingVariable", object{"variable": name, "operator": "matches", "value": ".+"})
}
