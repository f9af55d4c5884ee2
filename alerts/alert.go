package alerts

import (
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Alert is an alert with its runbook. Its rules are in a file of the folder rules, its other properties in its runbook's file.
type Alert struct {
	// Name is the name of the alert and of its runbook.
	Name string
	// Objective is the objective that the program misses when the alert fires, as in the catalog.
	Objective catalog.Objective
	// Reason says why the alert has the severity of its objective, and not a higher or lower one. It is in the table of alerts.
	Reason string
	// Runbook describes the meaning, impact, diagnosis and mitigation of the alert.
	Runbook Runbook

	// group is the group of its rules.
	group string
	rules []definition
	// dashboard is the dashboard that the alert links to, one of Dashboards.
	dashboard string
	// labels are the labels of the result that set the dashboard variables of the same name. "controller=name" sets the
	// variable controller from the label name. No dashboard has a variable for the namespace of the target, "@namespace".
	labels []string
}

// All returns every alert, by family of its objective's metric in reading order.
func All() []Alert { return slices.Clone(loaded().alerts) }

// ByName returns the alert with the given name.
func ByName(name string) (Alert, bool) {
	all := loaded().alerts
	i := slices.IndexFunc(all, func(a Alert) bool { return a.Name == name })
	if i < 0 {
		return Alert{}, false
	}
	return all[i], true
}

func names() []string {
	var list []string
	for _, a := range loaded().alerts {
		list = append(list, a.Name)
	}
	return list
}

// filled returns the alert's rules for a valid configuration.
func (a Alert) filled(c Config) []Rule { return c.label(a.annotate(a.split(c), c)) }

// fill returns the rules for an objective.
func (a Alert) fill(o catalog.Objective, c Config) (list []Rule) {
	for _, d := range a.rules {
		list = append(list, a.rule(d, o, c))
	}
	return list
}

// rule fills in one rule. Without a value of its own, it takes for and its severity from the objective.
func (a Alert) rule(d definition, o catalog.Objective, c Config) Rule {
	t := newText(o, c)
	if d.BurnRate != nil {
		t = t.burn(*d.BurnRate)
	}
	r := t.rule(d.Rule)
	severity := t.o.Severity
	if own, ok := r.Labels[SeverityLabel]; ok {
		severity = catalog.Severity(own)
		delete(r.Labels, SeverityLabel)
	}
	r.Labels[c.series().SeverityLabel()] = c.Severity(severity)
	if r.For == "" {
		r.For = catalog.FormatDuration(t.o.For)
	}
	for name, address := range map[string]string{
		RunbookAnnotation:   RunbookURL(c, a.Name),
		DashboardAnnotation: dashboardURL(c.Dashboards.of(a.dashboard), a.labels, c),
	} {
		if address != "" {
			r.Annotations[name] = address
		}
	}
	return r
}

// RunbookURL returns the URL of an alert's runbook, "" if it is unknown.
func RunbookURL(c Config, name string) string {
	if c.RunbookBase == "" {
		return ""
	}
	return strings.TrimSuffix(c.RunbookBase, "/") + "/" + name + ".md"
}

// dashboardURL returns the URL of a dashboard with its variables set from the alert's labels, as a template; "" if it is unknown.
func dashboardURL(address string, labels []string, c Config) string {
	if address == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(address)
	b.WriteString("?from=now-3h&to=now")
	for _, l := range labels {
		if strings.HasPrefix(l, "@") {
			continue
		}
		variable, label, renamed := strings.Cut(l, "=")
		if !renamed {
			label = variable
		}
		b.WriteString(`{{ with $labels.` + c.name(label) + ` }}&var-` + variable + `={{ . | urlquery }}{{ end }}`)
	}
	return b.String()
}
