package generate

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

const (
	appName = "informer-exporter"
	// scrapeLabel is the label by which Pods of programs with the library opt in to scrapes.
	scrapeLabel = "informer-exporter.io/scrape"
	nameLabel   = "app.kubernetes.io/name"
)

type object map[string]any

func manifest(apiVersion, kind string, metadata, more object) ([]byte, error) {
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for k, v := range more {
		o[k] = v
	}
	return marked(yaml.Marshal(o))
}

func prometheusRule(c Config) ([]byte, error) {
	return manifest("monitoring.coreos.com/v1", "PrometheusRule", c.resources.metadata(appName, nil), object{
		"spec": object{"groups": alerts.Rules(c.alerts)},
	})
}

func endpoint(c Config, port string, honorLabels bool) []object {
	return []object{{"port": port, "honorLabels": honorLabels, "interval": c.scrapeInterval()}}
}

// addHistograms makes Prometheus store native histograms, and convert those that are only classic, so that one query reads both.
func addHistograms(c Config, spec object) {
	if c.alerts.Histograms == string(prom.Native) {
		spec["scrapeNativeHistograms"], spec["convertClassicHistogramsToNHCB"] = true, true
	}
}

// serviceMonitor scrapes the exporter. Its k8s_object_* metrics carry the namespace of the objects, as
// those of kube-state-metrics do; honorLabels keeps it.
func serviceMonitor(c Config) ([]byte, error) {
	spec := object{
		"selector":  object{"matchLabels": object{nameLabel: appName, "app.kubernetes.io/component": "exporter"}},
		"endpoints": endpoint(c, "http", true),
	}
	addHistograms(c, spec)
	if c.resources.Namespace != "" { // the exporter has a namespace of its own, as in rbac.yaml
		spec["namespaceSelector"] = object{"matchNames": []string{appName}}
	}
	return manifest("monitoring.coreos.com/v1", "ServiceMonitor", c.resources.metadata(appName, nil), object{"spec": spec})
}

// programMetrics matches the metrics of programs with and without the library, of client-go and of the Go runtime. It leaves out those
// that only an exporter reports: a Pod that exposed k8s_lease_expired 0 would silence the alert of another program.
const programMetrics = "(k8s_informer|k8s_client|controller|workqueue|rest_client|leader_election|process|go)_.+|informer_(processing|queued|store)_.+"

// podMonitor scrapes Pods that opt in by a label, in the PodMonitor's own namespace or in those of the configuration: Pods
// in these namespaces can report any value. The label namespace is the namespace of the Pod.
func podMonitor(c Config) ([]byte, error) {
	endpoints := endpoint(c, "metrics", false)
	endpoints[0]["metricRelabelings"] = []object{{"action": "keep", "sourceLabels": []string{"__name__"}, "regex": programMetrics}}
	spec := object{
		"selector":            object{"matchLabels": object{scrapeLabel: "true"}},
		"podMetricsEndpoints": endpoints,
		// Far above what a program reports: 350 series for a controller with two informers.
		"bodySizeLimit": "20MB", "sampleLimit": 50000, "labelLimit": 40, "labelNameLengthLimit": 128, "labelValueLengthLimit": 1024,
	}
	addHistograms(c, spec)
	if len(c.resources.PodNamespaces) > 0 {
		spec["namespaceSelector"] = object{"matchNames": c.resources.PodNamespaces}
	}
	return manifest("monitoring.coreos.com/v1", "PodMonitor", c.resources.metadata("informers", nil), object{"spec": spec})
}

// dashboardConfigMaps are picked up by the sidecar of Grafana's Helm chart. Each dashboard has its own, because kubectl
// apply keeps a copy in an annotation, and all of them together exceed the size limit of annotations. The JSON is not indented, because
// spaces count as well.
func dashboardConfigMaps(c Config, boards []dashboards.Dashboard) ([]byte, error) {
	return each(boards, func(d dashboards.Dashboard) ([]byte, error) {
		metadata := c.resources.metadata(d.UID, map[string]string{dashboardLabel: "1"})
		if c.resources.FolderAnnotation != "" {
			metadata["annotations"] = map[string]string{c.resources.FolderAnnotation: c.resources.Folder}
		}
		var flat bytes.Buffer
		if err := json.Indent(&flat, d.JSON, "", ""); err != nil {
			return nil, err
		}
		return manifest("v1", "ConfigMap", metadata, object{
			"data": map[string]string{d.UID + ".json": flat.String()},
		})
	})
}

// grafanaDashboards make the grafana-operator load the dashboards from the ConfigMaps of dashboardConfigMaps.
func grafanaDashboards(c Config, boards []dashboards.Dashboard) ([]byte, error) {
	return each(boards, func(d dashboards.Dashboard) ([]byte, error) {
		return manifest("grafana.integreatly.org/v1beta1", "GrafanaDashboard", c.resources.metadata(d.UID, nil), object{
			"spec": object{
				"instanceSelector": object{"matchLabels": c.resources.InstanceSelector},
				"folder":           c.resources.Folder,
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
