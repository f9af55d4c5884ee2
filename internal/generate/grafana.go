package generate

import "sigs.k8s.io/yaml"

func dashboardProvider(c Config) ([]byte, error) {
	return marked(yaml.Marshal(object{
		"apiVersion": 1,
		"providers": []object{{
			"name": appName, "folder": c.resources.Folder, "type": "file", "allowUiUpdates": false,
			"options": object{"path": "/var/lib/grafana/dashboards/" + appName},
		}},
	}))
}

// traceStore is the store of traces that exemplars link to.
type traceStore struct {
	// Type is jaeger or tempo, which are also the types of Grafana's data sources.
	Type string `yaml:"type,omitempty"`
	// URL is the URL of its API. Without it, no data source for traces is provisioned.
	URL string `yaml:"url,omitempty"`
}

// tracesUID is the uid of the data source for traces, and exemplarLabel the label of exemplars with the trace ID.
const (
	tracesUID     = "informer-traces"
	exemplarLabel = "trace_id"
)

// dataSources contains the scrape interval, from which Grafana computes $__rate_interval. Exemplars link to the trace store.
func dataSources(c Config) ([]byte, error) {
	metrics := object{"httpMethod": "POST", "prometheusType": "Prometheus", "timeInterval": c.scrapeInterval()}
	sources := []object{{
		"name": "Prometheus", "uid": "prometheus", "type": "prometheus", "access": "proxy", "isDefault": true,
		"url": c.prometheusURL, "jsonData": metrics,
	}}
	if c.traces.URL != "" {
		metrics["exemplarTraceIdDestinations"] = []object{{"name": exemplarLabel, "datasourceUid": tracesUID}}
		sources = append(sources, object{
			"name": "Traces", "uid": tracesUID, "type": c.traces.Type, "access": "proxy", "url": c.traces.URL,
		})
	}
	return marked(yaml.Marshal(object{"apiVersion": 1, "datasources": sources}))
}
