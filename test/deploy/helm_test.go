package deploy_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil" // pins the module with the CustomResourceDefinitions
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/generate"
	"github.com/informer-exporter/informer-exporter/internal/testenv/manifest"
)

const (
	chartDir = "../../deploy/helm/informer-exporter"
	release  = "informer-exporter" // also the namespace, as in kubernetes/rbac.yaml
)

var update = flag.Bool("update", false, "write the golden files")

// installations are values of typical installations, by the name of their golden file.
var installations = map[string]string{
	"defaults": "",
	"everything": `
config: {namespaces: [shop, pay], extraResources: [secrets, {name: planets.example.com, scope: Cluster}]}
commonLabels: {team: platform}
replicas: 3
web: {kubernetesAuth: true, tlsSecret: exporter-tls, scrapers: [{name: prometheus, namespace: monitoring}]}
rbac: {extraRules: [{apiGroups: [example.com], resources: ["*"], verbs: [list, watch]}]}
serviceMonitor: {enabled: true, labels: {release: kube-prometheus-stack}}
networkPolicy: {enabled: true, from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
priorityClassName: system-cluster-critical
tolerations: [{operator: Exists}]
`,
	"audit": `
audit: {enabled: true, tlsSecret: audit-tls, tokenSecret: audit-token, clusterIP: 10.0.0.200, from: [{ipBlock: {cidr: 10.0.0.0/24}}]}
serviceMonitor: {enabled: true, labels: {release: kube-prometheus-stack}}
networkPolicy: {enabled: true, from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
podLabels: {tier: back}
`,
	"sharding": `
config: {splitResources: [pods]}
shards: 3
web: {config: {basic_auth_users: {prometheus: $2y$10$KbW1hNmJQxgSEqjXdPkXt.zvYq0pDrMn7IX3Ww5DgXvHlpX9hsXvO}}}
extraArgs: [--log.level=debug]
extraEnv: [{name: GOGC, value: "50"}]
`,
}

var loaded = sync.OnceValues(func() (*chart.Chart, error) { return loader.Load(chartDir) })

// render returns the text of the chart's manifests, as `helm template` prints it.
func render(values string) (string, error) {
	chart, err := loaded()
	if err != nil {
		return "", err
	}
	return renderChart(chart, values)
}

func renderChart(chart *chart.Chart, values string) (string, error) {
	var set map[string]any
	if err := yaml.Unmarshal([]byte(values), &set); err != nil {
		return "", err
	}
	all, err := util.ToRenderValues(chart, set, common.ReleaseOptions{Name: release, Namespace: release, Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.TrimSpace(files[path]) != "" && filepath.Ext(path) == ".yaml" {
			fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", path, strings.TrimSpace(files[path]))
		}
	}
	return text.String(), nil
}

// objects returns the objects of the chart.
func objects(t *testing.T, values string) []*unstructured.Unstructured {
	t.Helper()
	text, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Decode(t, text)
}

// `helm lint` reports nothing but the missing icon.
func TestHelmLint(t *testing.T) {
	for name, values := range installations {
		var set map[string]any
		if err := yaml.Unmarshal([]byte(values), &set); err != nil {
			t.Fatal(err)
		}
		for _, m := range lint.RunAll(chartDir, set, release).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// The golden files are what `helm template` prints. `go test -run TestHelmTemplate -update` writes them.
func TestHelmTemplate(t *testing.T) {
	for name, values := range installations {
		got, err := render(values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("%s differs (%v): run go test -run TestHelmTemplate -update, and read the difference", golden, err)
		}
	}
}

// The program has every flag that the chart sets.
func TestHelmFlags(t *testing.T) {
	flags, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range installations {
		text, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^ *- --([a-z.-]+)`).FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^ +--(\[no-\])?` + regexp.QuoteMeta(m[1]) + `\b`).Match(flags) {
				t.Errorf("%s: there is no flag --%s", name, m[1])
			}
		}
	}
}

// The chart rejects invalid values, and the error names the value.
func TestHelmRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"replica: 2":                                       "replica",
		"shards: 0":                                        "/shards",
		"{shards: 2, replicas: 2}":                         "shards requires replicas: 1",
		"web: {kubernetesAuth: true}":                      "web.kubernetesAuth requires TLS",
		"audit: {enabled: true, tlsSecret: t}":             "audit.enabled requires audit.tlsSecret and audit.tokenSecret",
		"config: {namespace: shop}":                        "/config",
		"config: {resources: [{kind: pods}]}":              "/config/resources/0",
		"image: {digest: latest}":                          "/image/digest",
		"podLabels: {app.kubernetes.io/name: other}":       "podLabels: the chart sets the label app.kubernetes.io/name itself",
		"commonLabels: {app.kubernetes.io/part-of: other}": "commonLabels: the chart sets the label app.kubernetes.io/part-of itself",
		"serviceMonitor: {labels: {release: true}}":        "/serviceMonitor/labels/release",

		"podAnnotations: {kubectl.kubernetes.io/default-container: other}":                   "podAnnotations: the chart sets the annotation kubectl.kubernetes.io/default-container itself",
		"{config: {detail: full}, podAnnotations: {informer-exporter.io/detail: essential}}": "podAnnotations: the chart sets the annotation informer-exporter.io/detail itself",
	} {
		if _, err := render(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", values, err, want)
		}
	}
}

// A label of the Pods takes precedence over a common label. No label appears twice, and annotations of the Pods are added
// to the chart's.
func TestHelmPodLabels(t *testing.T) {
	text, err := render("{commonLabels: {team: platform, site: a}, podLabels: {team: shop, tier: back}, podAnnotations: {note: mine}, config: {detail: full, histograms: both}}")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(text, "---\n") {
		var o unstructured.Unstructured
		if err := yaml.UnmarshalStrict([]byte(document), &o.Object); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
		if o.Object["kind"] != "Deployment" {
			continue
		}
		labels, _, err := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
		if err != nil {
			t.Fatal(err)
		}
		annotations, _, err := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "annotations")
		if err != nil || len(annotations) != 4 || annotations["note"] != "mine" || annotations["informer-exporter.io/detail"] != "full" {
			t.Errorf("annotations %v (%v)", annotations, err)
		}
		got := fmt.Sprintf("%s, of the Pods %s %s %s", o.GetLabels()["team"], labels["team"], labels["site"], labels["tier"])
		if want := "platform, of the Pods shop a back"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		return
	}
	t.Error("no Deployment")
}

// The schema of the values has each value and each field of the exporter's configuration, and nothing else.
func TestHelmSchemaIsComplete(t *testing.T) {
	chart, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	type properties struct{ Properties map[string]properties }
	var schema properties
	if err := json.Unmarshal(chart.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(name string) bool { return name == "global" })
	if values := slices.Sorted(maps.Keys(chart.Values)); !slices.Equal(known, values) {
		t.Errorf("the schema has %v, values.yaml %v", known, values)
	}
	var fields []string
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		fields = append(fields, name)
	}
	slices.Sort(fields)
	if known := slices.Sorted(maps.Keys(schema.Properties["config"].Properties)); !slices.Equal(known, fields) {
		t.Errorf("config in values.schema.json has %v, the configuration %v", known, fields)
	}
}

// The chart grants the same permissions as `informer-exporter generate` does for the same configuration.
func TestHelmRights(t *testing.T) {
	var everyName []string
	for _, k := range kinds.All() {
		everyName = append(everyName, k.Type())
	}
	every := strings.Join(everyName, ", ")
	for _, file := range []string{
		"",
		"customResources: false",
		"objects: {leases: false}",
		"namespaces: [shop, pay]",
		"{namespaces: [shop], objects: {leases: false}}",
		"resources: [pods, secrets, deployments.apps, widgets.example.com]",
		"{resources: [" + every + "], namespaces: [shop]}",
		"{resources: [nodes, pods, {name: planets.example.com, scope: Cluster}, widgets.example.com], namespaces: [shop, pay]}",
		`resources: ["*.example.com", widgets.example.com, "*.a.b.example.com"]`,
		`resources: [pods, "config*", "*maps", "*.*", "*.*.com", "*s.apps", "pods*.apps"]`,
		"resources: [ingresses.*]",
		"{resources: [pods], splitResources: [pods]}",
		"{resources: [pods], splitResources: [pods], splitBy: uid}",
		"{resources: [pods], splitResources: [pods], namespaces: [shop]}",
		`{resources: [pods, nodes, "*.apps"], excludeResources: [nodes, "*.apps"]}`,
		`{extraResources: [secrets, "*.example.com"], excludeResources: ["*s.apps", "pods"]}`,
		`{resources: ["*", pods]}`,
		`{resources: ["*", nodes], namespaces: [shop]}`,
	} {
		e, err := config.Parse([]byte(file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		files, err := generate.Files(generate.DefaultConfig().ForExporter(e))
		if err != nil {
			t.Fatal(err)
		}
		want := grants(t, manifest.Decode(t, string(files["kubernetes/rbac.yaml"])))
		got := grants(t, objects(t, "config: "+inline(file)))
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s:\nchart     %v\ngenerator %v", file, got, want)
		}
	}
}

// inline returns a YAML object in braces.
func inline(file string) string {
	if strings.HasPrefix(file, "{") {
		return file
	}
	return "{" + file + "}"
}

// grants returns the rules of each role as JSON, and the role and subjects of each binding.
func grants(t *testing.T, list []*unstructured.Unstructured) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, o := range list {
		if o.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		var parsed struct {
			Rules    []rbacv1.PolicyRule `json:"rules,omitempty"`
			RoleRef  *rbacv1.RoleRef     `json:"roleRef,omitempty"`
			Subjects []rbacv1.Subject    `json:"subjects,omitempty"`
		}
		raw, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &parsed); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(parsed)
		if err != nil {
			t.Fatal(err)
		}
		all[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = string(text)
	}
	return all
}

// The GrafanaDashboards are those of `informer-exporter generate`, and load the dashboards from the chart's ConfigMaps.
func TestHelmGrafanaDashboards(t *testing.T) {
	const selector = "instanceSelector: {matchLabels: {dashboards: grafana}}"
	text, err := os.ReadFile("../../deploy/kubernetes/grafanadashboards.yaml")
	if err != nil {
		t.Fatal(err)
	}
	generated := map[string]any{} // by the key in the ConfigMap
	for _, o := range manifest.Decode(t, string(text)) {
		spec := o.Object["spec"].(map[string]any)
		reference := spec["configMapRef"].(map[string]any)
		delete(spec, "configMapRef")
		generated[reference["key"].(string)] = spec
	}
	keys := map[string]bool{} // by namespace, name and key
	var found int
	for _, o := range objects(t, "dashboards: {enabled: true, namespace: elsewhere, "+selector+"}") {
		switch o.GetKind() {
		case "ConfigMap":
			for key := range o.Object["data"].(map[string]any) {
				keys[o.GetNamespace()+"/"+o.GetName()+"/"+key] = true
			}
		case "GrafanaDashboard":
			found++
			spec := o.Object["spec"].(map[string]any)
			reference := spec["configMapRef"].(map[string]any)
			delete(spec, "configMapRef")
			if key := fmt.Sprintf("%s/%v/%v", o.GetNamespace(), reference["name"], reference["key"]); !keys[key] {
				t.Errorf("%s: no ConfigMap has %s", o.GetName(), key)
			}
			if want := generated[reference["key"].(string)]; !reflect.DeepEqual(spec, want) {
				t.Errorf("%s: %v, generated: %v", o.GetName(), spec, want)
			}
		}
	}
	if found != len(generated) || found == 0 {
		t.Errorf("%d GrafanaDashboards, %d generated", found, len(generated))
	}
	for _, o := range objects(t, "dashboards: {enabled: true}") {
		if o.GetKind() == "GrafanaDashboard" {
			t.Errorf("%s without a selector", o.GetName())
		}
	}
}

// Helm stores the chart and the manifests in a Secret, of at most 1 MiB.
func TestHelmReleaseFitsIntoASecret(t *testing.T) {
	chart, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := render("{prometheusRule: {enabled: true}, dashboards: {enabled: true}}")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"chart": chart, "manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if size := base64.StdEncoding.EncodedLen(packed.Len()); len(raw) < 1<<20 || size > 768<<10 {
		t.Errorf("the release takes %d KiB of a Secret's 1024 KiB", size>>10)
	} else {
		t.Logf("%d KiB", size>>10)
	}
}
