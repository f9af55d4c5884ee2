package generate

import (
	"bytes"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

const (
	appName = "informer-exporter"
	// scrapeLabel is the label by which Pods of programs with the library opt in to scrapes.
	scrapeLabel = "informer-exporter.io/scrape"
)

type object map[string]any

func manifest(apiVersion, kind, name string, labels map[string]string, more object) ([]byte, error) {
	all := map[string]string{"app.kubernetes.io/name": appName}
	for k, v := range labels {
		all[k] = v
	}
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": object{"name": name, "labels": all}}
	for k, v := range more {
		o[k] = v
	}
	return marked(yaml.Marshal(o))
}

func prometheusRule(c Config) ([]byte, error) {
	return manifest("monitoring.coreos.com/v1", "PrometheusRule", appName, nil, object{
		"spec": object{"groups": alerts.Rules(c.alerts)},
	})
}

func endpoint(port string, honorLabels bool) []object {
	return []object{{"port": port, "honorLabels": honorLabels, "interval": "15s"}}
}

// serviceMonitor scrapes the exporter. Its k8s_object_* metrics carry the namespace of the objects, as
// kube-state-metrics does, which honorLabels keeps.
func serviceMonitor(Config) ([]byte, error) {
	return manifest("monitoring.coreos.com/v1", "ServiceMonitor", appName, nil, object{
		"spec": object{
			"selector":  object{"matchLabels": object{"app.kubernetes.io/name": appName, "app.kubernetes.io/component": "exporter"}},
			"endpoints": endpoint("http", true),
		},
	})
}

// podMonitor scrapes the Pods of all namespaces that opt in by a label. The label namespace is the namespace of the Pod.
func podMonitor(Config) ([]byte, error) {
	return manifest("monitoring.coreos.com/v1", "PodMonitor", "informers", nil, object{
		"spec": object{
			"namespaceSelector":   object{"any": true},
			"selector":            object{"matchLabels": object{scrapeLabel: "true"}},
			"podMetricsEndpoints": endpoint("metrics", false),
		},
	})
}

// dashboardConfigMaps are picked up by the sidecar of Grafana's Helm chart. Each dashboard has its own, since kubectl apply
// keeps a copy in an annotation, and all of them together are larger than annotations may be.
func dashboardConfigMaps(boards []dashboards.Dashboard) ([]byte, error) {
	return each(boards, func(d dashboards.Dashboard) ([]byte, error) {
		return manifest("v1", "ConfigMap", d.UID, map[string]string{"grafana_dashboard": "1"}, object{
			"data": map[string]string{d.UID + ".json": string(d.JSON)},
		})
	})
}

// grafanaDashboards tell the grafana-operator to take the dashboards from those ConfigMaps.
func grafanaDashboards(boards []dashboards.Dashboard) ([]byte, error) {
	return each(boards, func(d dashboards.Dashboard) ([]byte, error) {
		return manifest("grafana.integreatly.org/v1beta1", "GrafanaDashboard", d.UID, nil, object{
			"spec": object{
				"instanceSelector": object{"matchLabels": object{"dashboards": "grafana"}},
				"folder":           "Informers",
				"configMapRef":     object{"name": d.UID, "key": d.UID + ".json"},
			},
		})
	})
}

func each(boards []dashboards.Dashboard, manifest func(dashboards.Dashboard) ([]byte, error)) ([]byte, error) {
	var documents [][]byte
	for _, d := range boards {
		document, err := manifest(d)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
