package alerts

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variable is a label of the alert in a command or a query: $NAMESPACE, or ${LOCK%%/*}.
var variable = regexp.MustCompile(`\$\{?([A-Z][A-Z_]*)`)

// chosen are the variables that are not labels. The reader finds their values with the commands.
var chosen = map[string]string{
	"REPLICA":  "pod",
	"WORKLOAD": "deployment/name",
	"RESOURCE": "resource",
}

// variables returns the variables of a runbook in the order of their first use.
func (r Runbook) variables() []string {
	var list []string
	for _, m := range variable.FindAllStringSubmatch(r.steps+r.causes, -1) {
		if !slices.Contains(list, m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// labelVariables returns the variables of a runbook that are labels of the alert.
func (r Runbook) labelVariables() []string {
	return slices.DeleteFunc(r.variables(), func(v string) bool { return chosen[v] != "" })
}

// chosenVariables returns the other variables of a runbook.
func (r Runbook) chosenVariables() []string {
	return slices.DeleteFunc(r.variables(), func(v string) bool { return chosen[v] == "" })
}

// labelOf returns the label that a variable stands for, as it is called in Prometheus.
func (a Alert) labelOf(variable string, c Config) string {
	label := strings.ToLower(variable)
	if label == "namespace" && !slices.Contains(a.labels, label) { // objects have another
		label = "@namespace"
	}
	return c.name(label)
}

// assignments returns a shell command that sets variables to the values that a function returns.
func assignments(variables []string, value func(string) string) string {
	var list []string
	for _, v := range variables {
		list = append(list, v+"='"+value(v)+"'")
	}
	return strings.Join(list, " ")
}

// annotate adds what a reader needs for the commands and the queries of the runbook, as templates.
func (a Alert) annotate(rules []Rule, c Config) []Rule {
	assigned := assignments(a.Runbook.labelVariables(), func(v string) string {
		// A program chooses the values of some labels, which must not break out of the quotes. A handler may be main.(*Controller)
		// or queue.Handler[string], a user https://issuer#jane or jane+admin@example.com
		// (\x40, because @ is the mark of a label that can be renamed).
		return `{{ $labels.` + a.labelOf(v, c) + ` | reReplaceAll "[^][A-Za-z0-9._:/*()\x40+#=,~-]" "" }}`
	})
	for _, r := range rules {
		if r.Alert == "" {
			continue
		}
		if assigned != "" {
			r.Annotations[VariablesAnnotation] = assigned
		}
		if c.GrafanaURL != "" {
			r.Annotations[ExploreAnnotation] = a.exploreURL(c)
		}
	}
	return rules
}

// exploreURL returns the URL of the runbook's queries in Grafana's Explore, with the labels of the alert, as a template.
func (a Alert) exploreURL(c Config) string {
	t := newText(c.Targets.Of(a.Objective), c)
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(c.GrafanaURL, "/") + "/explore?schemaVersion=1&panes=" + url.QueryEscape(`{"run":{"queries":[`))
	for i, q := range a.Runbook.Queries {
		if i > 0 {
			b.WriteString(url.QueryEscape(","))
		}
		b.WriteString(url.QueryEscape(fmt.Sprintf(`{"refId":"%c","expr":`, 'A'+i)))
		b.WriteString(a.template(t.fill(q.Code), c))
		b.WriteString(url.QueryEscape("}"))
	}
	b.WriteString(url.QueryEscape(`],"range":{"from":"now-3h","to":"now"}}}`))
	return b.String()
}

// template returns a Prometheus template for a query as a JSON string in a URL. Each variable must be a whole quoted string.
func (a Alert) template(query string, c Config) string {
	var labels strings.Builder
	format := strings.ReplaceAll(query, "%", "%%")
	for _, m := range variable.FindAllStringSubmatch(query, -1) {
		labels.WriteString(" $labels." + a.labelOf(m[1], c))
		format = strings.Replace(format, `"$`+m[1]+`"`, "%q", 1)
	}
	quoted := strconv.Quote(format)
	if strconv.CanBackquote(format) {
		quoted = "`" + format + "`"
	}
	return "{{ printf " + quoted + labels.String() + ` | printf "%q" | urlquery }}`
}
