package generate_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// The dashboards that alerts link to exist, and have the variables that the links set.
func TestAlertsLinkToTheirDashboards(t *testing.T) {
	f := files(t, "grafanaURL: https://grafana.example.com/")
	var rules struct{ Groups []alerts.Group }
	if err := yaml.Unmarshal(f["prometheus/rules.yaml"], &rules); err != nil {
		t.Fatal(err)
	}
	set := regexp.MustCompile(`&var-([a-z_]+)=`)
	linked := map[string]int{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			address, _, _ := strings.Cut(r.Annotations[alerts.DashboardAnnotation], "?")
			uid, ok := strings.CutPrefix(address, "https://grafana.example.com/d/")
			board := string(f["grafana/dashboards/"+uid+".json"])
			if !ok || board == "" {
				t.Errorf("%s links to %s", r.Alert, address)
			}
			linked[uid]++
			for _, v := range set.FindAllStringSubmatch(r.Annotations[alerts.DashboardAnnotation], -1) {
				if !strings.Contains(board, `"name": "`+v[1]+`"`) {
					t.Errorf("%s sets the variable %s, which %s does not have", r.Alert, v[1], uid)
				}
			}
		}
	}
	if len(linked) != 7 {
		t.Errorf("alerts link to %v, want to each dashboard", linked)
	}
}

// Each dashboard is in a ConfigMap of its own, which kubectl apply can put into an annotation.
func TestDashboardConfigMaps(t *testing.T) {
	const largestAnnotation = 256 << 10
	f := files(t, "")
	boards := map[string]string{}
	for _, document := range bytes.Split(f["kubernetes/dashboards.yaml"], []byte("\n---\n")) {
		var config struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
			Data map[string]string
		}
		if err := yaml.Unmarshal(document, &config); err != nil {
			t.Fatal(err)
		}
		applied, err := yaml.YAMLToJSON(document)
		if err != nil || len(applied) > largestAnnotation {
			t.Errorf("%s: %d bytes are too many for an annotation (%v)", config.Metadata.Name, len(applied), err)
		}
		if len(config.Data) != 1 || config.Metadata.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s has %d dashboards, and the labels %v for Grafana's sidecar", config.Metadata.Name, len(config.Data), config.Metadata.Labels)
		}
		maps.Copy(boards, config.Data)
	}
	for path, content := range f {
		if dir, file := filepath.Split(path); dir == "grafana/dashboards/" && boards[file] != string(content) {
			t.Errorf("no ConfigMap has %s, or it has another one", file)
		}
	}
}

// The grafana-operator is sent to ConfigMaps that exist, for each dashboard.
func TestGrafanaDashboards(t *testing.T) {
	f := files(t, "")
	documents := bytes.Split(f["kubernetes/grafanadashboards.yaml"], []byte("\n---\n"))
	if len(documents) != 7 {
		t.Errorf("%d documents", len(documents))
	}
	for _, document := range documents {
		var o struct {
			APIVersion, Kind string
			Spec             struct {
				ConfigMapRef     struct{ Name, Key string }
				InstanceSelector struct{ MatchLabels map[string]string }
			}
		}
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatal(err)
		}
		ref := o.Spec.ConfigMapRef
		if o.APIVersion != "grafana.integreatly.org/v1beta1" || o.Kind != "GrafanaDashboard" || len(o.Spec.InstanceSelector.MatchLabels) == 0 ||
			!bytes.Contains(f["kubernetes/dashboards.yaml"], []byte("\n  name: "+ref.Name+"\n")) || !bytes.Contains(f["kubernetes/dashboards.yaml"], []byte("\n  "+ref.Key+": ")) {
			t.Errorf("%+v", o)
		}
	}
}
