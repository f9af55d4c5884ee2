package dashboards

import (
	"errors"
	"fmt"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// UIDs of the dashboards in Grafana. They do not change between releases.
const (
	FleetUID          = "informers-fleet"
	OverviewUID       = "informers-overview"
	DetailUID         = "informers-detail"
	ControllersUID    = "informers-controllers"
	LeaderElectionUID = "informers-leader-election"
	ObjectsUID        = "informers-objects"
	APIClientUID      = "informers-api-client"
	ClientsUID        = "informers-clients"
	ExporterUID       = "informers-exporter"
)

// Config configures the dashboards. The zero value is valid.
type Config struct {
	// Targets are the objectives in effect.
	Targets catalog.Targets
	// MinInterval is the shortest step of queries, from which Grafana computes $__rate_interval. 0 leaves it to the data source:
	// set it to the scrape interval if data sources may not know that.
	MinInterval time.Duration
	// RunbookBase is the URL of the runbooks. If it is not empty, the dashboards link to it.
	RunbookBase string
	// Labels maps cluster, namespace, pod, job and instance to the names of these labels in Prometheus.
	Labels map[string]string
	// Selector holds matchers to add to every query, such as `env="prod"`.
	Selector string
	// LogsURL is the URL of the logs of a process, in which $namespace and $pod stand for regular expressions of its Namespace and
	// Pod. If it is not empty, the dashboards link to it.
	LogsURL string
	// TracesURL is the URL of the traces. If it is not empty, panels with exemplars link to it.
	TracesURL string
	// Severities maps page, ticket and info to the values of the severity label in Prometheus, and label to its name.
	Severities map[string]string
	// Histograms is the form of histograms that panels read, classic or native. Defaults to classic.
	Histograms string
}

// series describes the series that queries select.
func (c Config) series() prom.Series {
	return prom.Series{Labels: c.Labels, Selector: c.Selector, Severities: c.Severities, Histograms: prom.Histograms(c.Histograms)}
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
	if errs := c.series().Validate(nil); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var list []Dashboard
	b := loaded()
	for _, file := range b.pages {
		p, err := b.page(file, c)
		if err != nil {
			return nil, err
		}
		d, err := p.build(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.file, err)
		}
		list = append(list, d)
	}
	return list, nil
}
