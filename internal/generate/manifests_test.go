package generate_test

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func TestManifests(t *testing.T) {
	f := files(t, "")
	read := func(path string) (o struct {
		APIVersion string
		Kind       string
		Spec       struct {
			Groups              []alerts.Group
			Endpoints           []struct{ HonorLabels bool }
			PodMetricsEndpoints []struct{ HonorLabels bool }
		}
	}) {
		if err := yaml.Unmarshal(f[path], &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return o
	}
	if e := read("kubernetes/servicemonitor.yaml").Spec.Endpoints; len(e) != 1 || !e[0].HonorLabels {
		t.Errorf("the ServiceMonitor of the exporter does not honor labels: %+v", e)
	}
	if e := read("kubernetes/podmonitor.yaml").Spec.PodMetricsEndpoints; len(e) != 1 || e[0].HonorLabels {
		t.Errorf("the PodMonitor honors labels: %+v", e)
	}
	rule, err := yaml.Marshal(read("kubernetes/prometheusrule.yaml").Spec)
	if err != nil || !strings.Contains(string(rule), "InformerNotSynced") {
		t.Errorf("the PrometheusRule lacks rules: %v", err)
	}
}

// Monitors scrape the form of histograms that rules read.
func TestMonitorsScrapeTheFormOfRules(t *testing.T) {
	for config, native := range map[string]bool{"": false, "histograms: classic": false, "histograms: native": true} {
		generated := files(t, config)
		for _, name := range []string{"servicemonitor", "podmonitor"} {
			var m struct {
				Spec struct{ ScrapeNativeHistograms, ConvertClassicHistogramsToNHCB bool }
			}
			if err := yaml.Unmarshal(generated["kubernetes/"+name+".yaml"], &m); err != nil {
				t.Fatal(err)
			}
			if m.Spec.ScrapeNativeHistograms != native || m.Spec.ConvertClassicHistogramsToNHCB != native {
				t.Errorf("%q: %s has %+v, want %t", config, name, m.Spec, native)
			}
		}
		for _, name := range []string{"prometheus/rules.yaml", "runbooks/InformerHandlerSlow.md", "grafana/dashboards/informers-detail.json"} {
			if reads := !strings.Contains(string(generated[name]), "k8s_informer_handler_duration_seconds_bucket"); len(generated[name]) == 0 || reads != native {
				t.Errorf("%q: %s reads native histograms: %t, want %t", config, name, reads, native)
			}
		}
	}
}

// A Pod can report neither series of another namespace nor metrics of an exporter, and its scrapes have limits.
func TestPodMonitorTrustsNoPod(t *testing.T) {
	type monitor struct {
		Spec struct {
			NamespaceSelector struct {
				Any        bool
				MatchNames []string
			}
			BodySizeLimit                                                        string
			SampleLimit, LabelLimit, LabelNameLengthLimit, LabelValueLengthLimit int
			PodMetricsEndpoints                                                  []struct {
				HonorLabels       bool
				MetricRelabelings []struct {
					Action, Regex string
					SourceLabels  []string
				}
			}
		}
	}
	for config, namespaces := range map[string][]string{
		"":                                    nil,
		"kubernetes: {podNamespaces: [a, b]}": {"a", "b"},
		"kubernetes: {namespace: monitoring}": nil,
	} {
		var m monitor
		if err := yaml.Unmarshal(files(t, config)["kubernetes/podmonitor.yaml"], &m); err != nil {
			t.Fatal(err)
		}
		s := m.Spec
		if s.NamespaceSelector.Any || !slices.Equal(s.NamespaceSelector.MatchNames, namespaces) {
			t.Errorf("%q: namespaces %+v, want %v", config, s.NamespaceSelector, namespaces)
		}
		if s.BodySizeLimit == "" || s.SampleLimit == 0 || s.LabelLimit == 0 || s.LabelNameLengthLimit == 0 || s.LabelValueLengthLimit == 0 {
			t.Errorf("%q: no limits: %+v", config, s)
		}
		if len(s.PodMetricsEndpoints) != 1 || s.PodMetricsEndpoints[0].HonorLabels || len(s.PodMetricsEndpoints[0].MetricRelabelings) != 1 {
			t.Fatalf("%q: endpoints %+v", config, s.PodMetricsEndpoints)
		}
		keep := s.PodMetricsEndpoints[0].MetricRelabelings[0]
		if keep.Action != "keep" || !slices.Equal(keep.SourceLabels, []string{"__name__"}) {
			t.Fatalf("%q: relabeling %+v", config, keep)
		}
		kept := regexp.MustCompile("^(?:" + keep.Regex + ")$")
		for _, metric := range catalog.All() {
			// API servers and observers of audit logs are not scraped by the PodMonitor.
			own := !slices.Contains([]catalog.Family{catalog.LeaseExpired.Family, catalog.ObjectTerminating.Family, catalog.ExporterKindUp.Family, catalog.ServerTerminatedWatchers.Family, catalog.AuditWatchesOpen.Family}, metric.Family) &&
				!regexp.MustCompile(`^kube_|_controller_stale_sync_skips_total$`).MatchString(metric.Name) // nor are kube-state-metrics and kube-controller-manager
			if kept.MatchString(metric.Name) != own {
				t.Errorf("%q: %s is kept: %t, want %t", config, metric.Name, !own, own)
			}
		}
		for name, want := range map[string]bool{"process_resident_memory_bytes": true, "go_goroutines": true, "up": false, "ALERTS": false, "lease:k8s_lease_renewed_timestamp_seconds:max": false} {
			if kept.MatchString(name) != want {
				t.Errorf("%q: %s is kept: %t, want %t", config, name, !want, want)
			}
		}
	}
}

// Every resource has the configured namespace, folder and labels.
func TestResources(t *testing.T) {
	f := files(t, `
kubernetes:
  namespace: monitoring
  labels: {release: kube-prometheus-stack}
  folder: Kubernetes
  folderAnnotation: grafana_folder
  instanceSelector: {grafana: main}
`)
	for path, kind := range map[string]string{
		"kubernetes/prometheusrule.yaml": "PrometheusRule", "kubernetes/servicemonitor.yaml": "ServiceMonitor", "kubernetes/podmonitor.yaml": "PodMonitor",
		"kubernetes/dashboards.yaml": "ConfigMap", "kubernetes/grafanadashboards.yaml": "GrafanaDashboard",
	} {
		for document := range strings.SplitSeq(string(f[path]), "\n---\n") {
			var o struct {
				Kind     string
				Metadata struct {
					Namespace           string
					Labels, Annotations map[string]string
				}
				Spec struct {
					Folder            string
					InstanceSelector  struct{ MatchLabels map[string]string }
					NamespaceSelector struct{ MatchNames []string }
				}
			}
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				t.Fatal(err)
			}
			if o.Kind != kind || o.Metadata.Namespace != "monitoring" || o.Metadata.Labels["release"] != "kube-prometheus-stack" || o.Metadata.Labels["app.kubernetes.io/name"] == "" {
				t.Errorf("%s: %+v", path, o)
			}
			switch kind {
			case "ConfigMap":
				if o.Metadata.Labels["grafana_dashboard"] != "1" || o.Metadata.Annotations["grafana_folder"] != "Kubernetes" {
					t.Errorf("%s: %+v", path, o.Metadata)
				}
			case "GrafanaDashboard":
				if o.Spec.Folder != "Kubernetes" || !maps.Equal(o.Spec.InstanceSelector.MatchLabels, map[string]string{"grafana": "main"}) {
					t.Errorf("%s: %+v", path, o.Spec)
				}
			case "ServiceMonitor":
				if !slices.Equal(o.Spec.NamespaceSelector.MatchNames, []string{"informer-exporter"}) {
					t.Errorf("%s does not look for the exporter in its namespace: %+v", path, o.Spec)
				}
			}
		}
	}
	if !bytes.Contains(f["grafana/provisioning/dashboards/informer-exporter.yaml"], []byte("folder: Kubernetes")) {
		t.Error("Grafana's provisioning has another folder")
	}
}
