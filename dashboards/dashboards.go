package dashboards

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Config is what a user can change. The zero value is valid.
type Config struct {
	// Targets are the objectives in force.
	Targets catalog.Targets
	// RunbookBase is the address that the runbooks are served under; the dashboards link to it unless it is empty.
	RunbookBase string
	// Labels are the names that labels have in Prometheus instead of cluster, job and instance.
	Labels map[string]string
	// Selector are matchers that every query gets, such as `env="prod"`. The default is none.
	Selector string
}

// Dashboard is a finished dashboard.
type Dashboard struct {
	// UID is the dashboard's id in Grafana and the name of its file.
	UID string
	// Title is what Grafana lists it as.
	Title string
	// JSON is the classic dashboard model, always the same for the same configuration.
	JSON []byte
	// Queries are those of all panels, in the order of the panels.
	Queries []Query
}

// Query is a query of a panel.
type Query struct {
	// Panel is the panel's title.
	Panel string
	// Expr is PromQL with Grafana's variables.
	Expr string
	// Instant tells that only the last value is asked for.
	Instant bool
}

// Plain returns the query as Prometheus understands it: with every variable at All, and with rateInterval, such as 1m,
// for Grafana's own.
func (q Query) Plain(rateInterval string) string {
	return atAll(strings.ReplaceAll(q.Expr, "$__rate_interval", rateInterval))
}

// All returns every dashboard. It fails if one breaks the rules of Validate.
func All(c Config) ([]Dashboard, error) {
	var list []Dashboard
	for _, p := range []page{overview(c), informerDetail(c), controllers(c), leaderElection(c), clusterObjects(c), apiClient(c), exporterItself(c)} {
		d, err := p.build(c)
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", p.uid, err)
		}
		list = append(list, d)
	}
	return list, nil
}
