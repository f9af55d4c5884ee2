package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Controller configures the alerts of one controller.
type Controller struct {
	// Targets are the objectives in effect for it.
	Targets catalog.Targets
	// Labels are added to its alerts, such as its team.
	Labels map[string]string
}

// controllerLabel returns the label with the name of the controller, "" if the alert is not about controllers. A queue has
// the name of its controller.
func (a Alert) controllerLabel() string {
	switch {
	case slices.Contains(a.labels, "controller=name"):
		return "name"
	case slices.Contains(a.labels, "controller"):
		return "controller"
	}
	return ""
}

// OfControllers reports whether the objective with the given ID belongs to an alert on controllers. Only such objectives can
// be overridden per controller.
func OfControllers(objective string) bool {
	return slices.ContainsFunc(All(), func(a Alert) bool { return a.Objective.ID == objective && a.controllerLabel() != "" })
}

// own reports whether a controller has its own rules for an alert. To opt in, it is enough to set the objective, even to its default:
// an override that the controller shares with all others has the same pointers.
func (a Alert) own(controller Controller, c Config) bool {
	if a.optIn {
		id := a.Objective.ID
		return controller.Targets.Override(id) != c.Targets.Override(id)
	}
	general, own := c.Targets.Of(a.Objective), controller.Targets.Of(a.Objective)
	return len(controller.Labels) > 0 || own.Threshold != general.Threshold || own.Window != general.Window || own.For != general.For || own.Severity != general.Severity
}

// controllerRules returns one rule for all controllers without their own rules, and one for each other controller.
func (a Alert) controllerRules(c Config) []Rule {
	label := a.controllerLabel()
	o := c.Targets.Of(a.Objective)
	if label == "" {
		return []Rule{a.rule(o, c)}
	}
	var own []Rule
	var quoted []string
	for _, name := range slices.Sorted(maps.Keys(c.Controllers)) {
		controller := c.Controllers[name]
		if !a.own(controller, c) {
			continue
		}
		quoted = append(quoted, regexp.QuoteMeta(name))
		r := a.rule(controller.Targets.Of(a.Objective), c.only(fmt.Sprintf("%s=%q", label, name)))
		r.Labels[label] = name // the result has it anyway, but promtool reports rules with equal labels as duplicates
		maps.Copy(r.Labels, controller.Labels)
		own = append(own, r)
	}
	switch {
	case a.optIn:
		return own
	case len(own) == 0:
		return []Rule{a.rule(o, c)}
	}
	return append([]Rule{a.rule(o, c.only(fmt.Sprintf("%s!~%q", label, strings.Join(quoted, "|"))))}, own...)
}
