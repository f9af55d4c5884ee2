package dashboards

import (
	"errors"
	"fmt"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
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
}

// All returns every dashboard.
func All(c Config) ([]Dashboard, error) {
	if errs := (prom.Series{Labels: c.Labels, Selector: c.Selector}).Validate(nil); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
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
