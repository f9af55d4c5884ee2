package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// alertMarks marks the start of firing alerts of a severity: a thin line, which leaves the graphs readable while the alert
// fires. Tickets are off until the user turns them on.
func (p page) alertMarks(name string, severity catalog.Severity, f filler) cog.Builder[sdk.AnnotationQuery] {
	// One mark per alert, program and resource, not per process.
	expr := onset(`max by (alertname, name, informer_type) (ALERTS{` + p.alertMatchers(`@severity="@`+string(severity)+`"`, "firing") + `}%)`)
	color := red
	if severity != catalog.Page {
		color = yellow
	}
	return sdk.NewAnnotationQueryBuilder().
		Name(name).Datasource(dataSource()).Enable(severity == catalog.Page).IconColor(color).
		Expr(f.fill(expr)).Target(query{expr: expr}.build("Anno", f)).
		TitleFormat("{{alertname}}").TextFormat("{{name}} {{informer_type}}")
}

// onset returns the series that did not exist one step before, for a line instead of a region. expr has a % where an offset belongs.
func onset(expr string) string {
	return strings.ReplaceAll(expr, "%", "") + " unless " + strings.ReplaceAll(expr, "%", " offset $__interval")
}

// alertMatchers selects alerts by the dashboard's variables. An alert that lacks a label concerns all values of the label.
func (p page) alertMatchers(severity, states string) string {
	matchers := []string{`alertname=~"` + p.alerts + `"`, `alertstate=~"` + states + `"`, severity}
	for _, v := range p.variables {
		switch v.name {
		case "cluster":
			matchers = append(matchers, `@cluster="$cluster"`)
		case "job", "instance":
			matchers = append(matchers, `@`+v.name+`=~"$`+v.name+`|"`)
		default:
			matchers = append(matchers, v.name+`=~"$`+v.name+`|"`)
		}
	}
	return strings.Join(matchers, ", ")
}

// leaderMarks marks leader transitions of programs with the library, and Lease transitions of all programs. Except on their own
// dashboard, they are off until the user turns them on: an outage of the API server causes many.
func (p page) leaderMarks(f filler) cog.Builder[sdk.AnnotationQuery] {
	now := `(max by (@cluster, name, lock) (` + prom.Occurred(`controller_leader_transitions_total{@, event="acquired", @cluster="$cluster", name=~".+"}`, `$__rate_interval`) +
		`) > 0 or max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@, @cluster="$cluster"}[$__rate_interval])) > 0)`
	expr := now + ` unless last_over_time(` + now + `[$__interval:$__interval] offset $__interval)`
	return sdk.NewAnnotationQueryBuilder().
		Name("Leader transitions").Datasource(dataSource()).Enable(p.uid == LeaderElectionUID).IconColor(blue).
		Expr(f.query(expr)).Target(query{expr: expr}.build("Anno", f)).
		TitleFormat("New leader").TextFormat("{{name}} {{lock}}{{lease_namespace}} {{lease}}")
}
