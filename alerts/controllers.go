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

// owner is a controller or a handler with rules of its own.
type owner struct {
	name      string
	objective catalog.Objective
	labels    map[string]string
}

// owners returns those with rules of their own for an alert, and the label with their names.
func (a Alert) owners(c Config) (label string, list []owner) {
	if a.Objective.ID == catalog.Objectives.HandlerDuration.ID {
		for _, name := range slices.Sorted(maps.Keys(c.HandlerThresholds)) {
			o := c.Targets.Of(a.Objective)
			o.Threshold = c.HandlerThresholds[name]
			list = append(list, owner{name: name, objective: o})
		}
		return "handler", list
	}
	if label = a.controllerLabel(); label == "" {
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Controllers)) {
		if controller := c.Controllers[name]; a.own(controller, c) {
			list = append(list, owner{name, controller.Targets.Of(a.Objective), controller.Labels})
		}
	}
	return label, list
}

// optIn reports whether only controllers with a threshold of their own have the alert.
func (a Alert) optIn() bool { return a.rules[0].OptIn }

// own reports whether a controller has its own rules for an alert. To opt in, it is enough to set the objective, even to its default:
// an override that the controller shares with all others has the same pointers.
func (a Alert) own(controller Controller, c Config) bool {
	if a.optIn() {
		id := a.Objective.ID
		return controller.Targets.Override(id) != c.Targets.Override(id)
	}
	general, own := c.Targets.Of(a.Objective), controller.Targets.Of(a.Objective)
	return len(controller.Labels) > 0 || own.Threshold != general.Threshold || own.Window != general.Window || own.For != general.For || own.Severity != general.Severity
}

// split returns the rules for all controllers or handlers without their own, and those for each other one.
func (a Alert) split(c Config) (rules []Rule) {
	o := c.Targets.Of(a.Objective)
	label, owners := a.owners(c)
	quoted := make([]string, len(owners))
	for i, owner := range owners {
		quoted[i] = regexp.QuoteMeta(owner.name)
	}
	switch {
	case a.optIn():
	case len(owners) == 0:
		rules = a.fill(o, c)
	default:
		rules = a.fill(o, c.only(fmt.Sprintf("%s!~%q", label, strings.Join(quoted, "|"))))
	}
	for _, owner := range owners {
		for _, r := range a.fill(owner.objective, c.only(fmt.Sprintf("%s=%q", label, owner.name))) {
			r.Labels[label] = owner.name // the result has it anyway, but promtool reports rules with equal labels as duplicates
			maps.Copy(r.Labels, owner.labels)
			rules = append(rules, r)
		}
	}
	return rules
}
