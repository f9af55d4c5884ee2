package generate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/generate"
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
	if len(linked) != 8 {
		t.Errorf("alerts link to %v, want all dashboards except Fleet", linked)
	}
}

// Each dashboard has its own ConfigMap, which fits into an annotation of kubectl apply.
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
		if dir, file := filepath.Split(path); dir == "grafana/dashboards/" && flat(t, []byte(boards[file])) != flat(t, content) {
			t.Errorf("no ConfigMap has %s, or it has another one", file)
		}
	}
}

// flat returns JSON without spaces.
func flat(t *testing.T, content []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, content); err != nil {
		t.Error(err)
	}
	return b.String()
}

// Each GrafanaDashboard references an existing ConfigMap.
func TestGrafanaDashboards(t *testing.T) {
	f := files(t, "")
	documents := bytes.Split(f["kubernetes/grafanadashboards.yaml"], []byte("\n---\n"))
	if len(documents) != 9 {
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

// Each alert is on the Overview while it is pending or firing.
func TestOverviewShowsEveryAlert(t *testing.T) {
	board := string(files(t, "{}")["grafana/dashboards/informers-overview.json"])
	var shown []string
	for _, m := range regexp.MustCompile(`alertname=~\\"([^"]+)\\"`).FindAllStringSubmatch(board, -1) {
		shown = append(shown, m[1])
	}
	match := regexp.MustCompile("^(?:" + strings.Join(shown, "|") + ")$")
	for _, a := range alerts.All() {
		if len(shown) == 0 || !match.MatchString(a.Name) {
			t.Errorf("the Overview does not show %s", a.Name)
		}
	}
}

// Schema v2 replaces the dashboards, including those in ConfigMaps, and omits the GrafanaDashboards. Other files are unchanged.
func TestSchema2(t *testing.T) {
	usual := files(t, "")
	other, err := generate.Files(generate.DefaultConfig().WithSchema2())
	if err != nil {
		t.Fatal(err)
	}
	const operator = "kubernetes/grafanadashboards.yaml"
	if _, ok := other[operator]; ok || len(other) != len(usual)-1 {
		t.Errorf("%d files instead of %d, %s among them: %t", len(other), len(usual), operator, ok)
	}
	for path, content := range other {
		v2 := strings.HasPrefix(path, "grafana/dashboards/") || path == "kubernetes/dashboards.yaml"
		if bytes.Contains(content, []byte(`"apiVersion": "dashboard.grafana.app/v2"`)) != v2 || bytes.Equal(content, usual[path]) == v2 {
			t.Errorf("%s: schema v2: %t", path, !v2)
		}
	}
}

// Exemplars link to a data source that exists, or to none.
func TestDataSourceOfTraces(t *testing.T) {
	for config, want := range map[string]int{"": 1, `traces: {url: ""}`: 0} {
		var provisioned struct {
			Sources []struct {
				UID, Type, URL string
				JSON           struct {
					Destinations []struct{ Name, DatasourceUID string } `json:"exemplarTraceIdDestinations"`
				} `json:"jsonData"`
			} `json:"datasources"`
		}
		if err := yaml.Unmarshal(files(t, config)["grafana/provisioning/datasources/prometheus.yaml"], &provisioned); err != nil {
			t.Fatal(err)
		}
		destinations := provisioned.Sources[0].JSON.Destinations
		if len(provisioned.Sources) != 1+want || len(destinations) != want {
			t.Fatalf("%q: %d data sources and %d destinations of exemplars, want %d and %d", config, len(provisioned.Sources), len(destinations), 1+want, want)
		}
		if want == 1 && (destinations[0].Name != "trace_id" || destinations[0].DatasourceUID != provisioned.Sources[1].UID) {
			t.Errorf("exemplars link to %+v, want the data source %+v", destinations[0], provisioned.Sources[1])
		}
	}
}
