package dashboards

import (
	"errors"
	"fmt"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// UIDs of the dashboards in Grafana. They do not change between releases.
const (
	OverviewUID       = "informers-overview"
	DetailUID         = "informers-detail"
	ControllersUID    = "informers-controllers"
	LeaderElectionUID = "informers-leader-election"
	ObjectsUID        = "informers-objects"
	APIClientUID      = "informers-api-client"
	ExporterUID       = "informers-exporter"
)

// Config configures the dashboards. The zero value is valid.
type Config struct {
	// Targets are the objectives in force.
	Targets catalog.Targets
	// RunbookBase is the URL of the runbooks. If it is not empty, the dashboards link to it.
	RunbookBase string
	// Labels maps cluster, job and instance to the names of these labels in Prometheus.
	Labels map[string]string
	// Selector holds matchers to add to every query, such as `env="prod"`.
	Selector string
}

// Dashboard is a generated dashboard.
type Dashboard struct {
	// UID is the dashboard's uid in Grafana and the name of its file.
	UID string
	// Title is the title in Grafana.
	Title string
	// JSON is the classic dashboard model. The same configuration yields the same bytes.
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
