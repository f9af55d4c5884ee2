package e2e_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// boardRule is a rule for every dashboard.
type boardRule struct {
	name  string
	check func(boardModel) []string
}

// boardRules are those of dashboard-linter, under their names there, followed by our own. The linter's two rules for LogQL are left
// out.
var boardRules = []boardRule{
	{"template-datasource", templateDatasource},
	{"template-job", templateTarget("job", "Job")},
	{"template-instance", templateTarget("instance", "Instance")},
	{"template-label-promql", templateLabelPromQL},
	{"template-on-time-change-reload", templateReload},
	{"panel-datasource", eachPanel(panelDatasource)},
	{"panel-title-description", eachPanel(panelTitleDescription)},
	{"panel-units", eachPanel(panelUnits)},
	{"panel-no-targets", eachPanel(panelNoTargets)},
	{"target-promql", eachTarget(targetPromQL)},
	{"target-rate-interval", eachSelector(targetRateInterval)},
	{"target-job", eachSelector(targetMatcher("job"))},
	{"target-instance", eachSelector(targetMatcher("instance"))},
	{"target-counter-agg", targetCounterAgg},
	{"uneditable-dashboard", uneditable},

	{"identity", identity},
	{"ids", ids},
	{"grid", gridFits},
	{"target-ref-id", targetRefIDs},
	{"target-datasource", eachTarget(targetDatasource)},
	{"target-cluster", eachSelector(targetMatcher("cluster"))},
	{"target-legend", eachPanel(targetLegend)},
	{"panel-legend-tooltip", eachPanel(legendAndTooltip)},
	{"panel-overrides", eachPanel(overrides)},
	{"links", links},
	{"variables-used", variablesUsed},
}

func eachPanel(check func(panelModel) string) func(boardModel) []string {
	return func(m boardModel) []string {
		var found []string
		for _, p := range m.drawn() {
			if problem := check(p); problem != "" {
				found = append(found, fmt.Sprintf("panel %d %q %s", p.ID, p.Title, problem))
			}
		}
		return found
	}
}

func eachTarget(check func(targetModel) string) func(boardModel) []string {
	return eachPanel(func(p panelModel) string {
		for _, t := range p.Targets {
			if problem := check(t); problem != "" {
				return fmt.Sprintf("query %s: %s", t.RefID, problem)
			}
		}
		return ""
	})
}

// eachSelector runs check on the selectors of all queries, with the nodes above each. Matchers keep their variables.
func eachSelector(check func(*parser.VectorSelector, []parser.Node) string) func(boardModel) []string {
	return eachTarget(func(t targetModel) (problem string) {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(withInterval(t.Expr))
		if err != nil {
			return "" // target-promql reports it
		}
		parser.Inspect(parsed, func(n parser.Node, path []parser.Node) error {
			if v, ok := n.(*parser.VectorSelector); ok && problem == "" {
				problem = check(v, path)
			}
			return nil
		})
		return problem
	})
}

// These stand for Grafana's variables, so that they differ from any range that a query has.
const (
	unusualInterval = 7*time.Hour + 7*time.Second
	unusualRange    = 9*time.Hour + 9*time.Second
)

// withInterval writes a query so that it can be parsed: variables may stand in strings only.
func withInterval(expr string) string {
	return strings.NewReplacer("$__rate_interval", "7h7s", "$__interval", "8h8s", "$__range_s", "32409", "$__range", "9h9s").Replace(expr)
}

const gridWidth = 24

var uidPattern = regexp.MustCompile(`^[a-z0-9-]{1,40}$`) // Grafana rejects longer ones

func identity(m boardModel) []string {
	var found []string
	if !uidPattern.MatchString(m.UID) {
		found = append(found, fmt.Sprintf("uid %q is not 1 to 40 of a-z, 0-9 and -", m.UID))
	}
	if m.Title == "" || m.Description == "" || len(m.Tags) == 0 {
		found = append(found, "title, description and tags are needed")
	}
	if m.SchemaVersion < 36 {
		found = append(found, fmt.Sprintf("schema version %d is too old", m.SchemaVersion))
	}
	return found
}

// ids: Grafana shows "panel not found" for links to ID 0, and only one of two panels with the same ID.
func ids(m boardModel) []string {
	var found []string
	seen := map[uint32]string{}
	for _, p := range m.flat() {
		if p.ID == 0 {
			found = append(found, fmt.Sprintf("panel %q has no id", p.Title))
		} else if other, ok := seen[p.ID]; ok {
			found = append(found, fmt.Sprintf("panels %q and %q share id %d", other, p.Title, p.ID))
		}
		seen[p.ID] = p.Title
	}
	return found
}

func gridFits(m boardModel) []string {
	found := fits(m.Panels)
	for _, row := range m.Panels { // the panels of a collapsed row are laid out separately
		found = append(found, fits(row.Panels)...)
	}
	return found
}

func fits(panels []panelModel) []string {
	var found []string
	taken := map[[2]int]string{}
	for _, p := range panels {
		g := p.GridPos
		if g == nil || g.W <= 0 || g.H <= 0 || g.X < 0 || g.Y < 0 || g.X+g.W > gridWidth {
			found = append(found, fmt.Sprintf("panel %q does not fit the grid: %+v", p.Title, g))
			continue
		}
		overlaps := ""
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					overlaps = other
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if overlaps != "" {
			found = append(found, fmt.Sprintf("panels %q and %q overlap", overlaps, p.Title))
		}
	}
	return found
}

func targetRefIDs(m boardModel) []string {
	return eachPanel(func(p panelModel) string {
		var seen []string
		for _, t := range p.Targets {
			if t.RefID == "" || slices.Contains(seen, t.RefID) {
				return fmt.Sprintf("has a query with an empty or duplicate refId: %q", t.RefID)
			}
			seen = append(seen, t.RefID)
		}
		return ""
	})(m)
}

func targetLegend(p panelModel) string {
	for _, t := range p.Targets {
		if p.Type == "timeseries" && t.Legend == "" {
			return "has a query without a legend"
		}
	}
	return ""
}

// legendAndTooltip: the SDK hides legends and leaves tooltips without a mode unless both are set.
func legendAndTooltip(p panelModel) string {
	if p.Type != "timeseries" {
		return ""
	}
	var o struct {
		Legend  struct{ ShowLegend bool }
		Tooltip struct{ Mode string }
	}
	if err := json.Unmarshal(p.Options, &o); err != nil || !o.Legend.ShowLegend || o.Tooltip.Mode == "" {
		return "has a hidden legend or a tooltip without a mode"
	}
	return ""
}

// overrides: Grafana cannot draw a panel with an override that has null for its properties.
func overrides(p panelModel) string {
	for _, o := range p.FieldConfig.Overrides {
		if len(o.Properties) == 0 {
			return "has an override that changes nothing"
		}
	}
	return ""
}

// links: Grafana's schema knows two types, and the SDK leaves the type of data links empty.
func links(m boardModel) []string {
	all := slices.Clone(m.Links)
	for _, p := range m.drawn() {
		all = append(all, p.FieldConfig.Defaults.Links...)
	}
	var found []string
	for _, l := range all {
		if l.Title == "" || l.Type != "dashboards" && (l.Type != "link" || l.URL == "") {
			found = append(found, fmt.Sprintf("link %q has the type %q or no address", l.Title, l.Type))
		}
	}
	return found
}

var usedVariable = regexp.MustCompile(`\$([a-z]+(?:_[a-z]+)*)`)

// variablesUsed finds variables in queries that are not declared, which Grafana would not replace.
func variablesUsed(m boardModel) []string {
	declared := map[string]bool{}
	for _, v := range m.Templating.List {
		declared[v.Name] = true
	}
	var found []string
	for _, p := range m.drawn() {
		for _, t := range p.Targets {
			for _, v := range usedVariable.FindAllStringSubmatch(strings.NewReplacer("$__rate_interval", "", "$__interval", "", "$__range_s", "", "$__range", "").Replace(t.Expr), -1) {
				if !declared[v[1]] {
					found = append(found, fmt.Sprintf("panel %q uses the variable %s, which does not exist", p.Title, v[1]))
				}
			}
		}
	}
	return found
}
