package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"
)

// oldest is the minor version that the module in testdata pins.
const oldest = "1.28"

// The chart accepts API servers from the oldest version on, including those with a vendor's suffix.
func TestHelmKubeVersion(t *testing.T) {
	chart, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{
		"v1.27.16": false, "v1.27.16-eks-0123456": false,
		"v" + oldest + ".0": true, "v" + oldest + ".15-eks-0123456": true, "v1.36.3": true, "v1.37.0-gke.100": true,
	} {
		if got := util.IsCompatibleRange(chart.Metadata.KubeVersion, version); got != want {
			t.Errorf("%s accepts %s: %t, want %t", chart.Metadata.KubeVersion, version, got, want)
		}
	}
}

// The oldest version has every field that the chart sets. An API server ignores fields that it does not know.
func TestHelmFieldsOfTheOldestVersion(t *testing.T) {
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "k8s.io/api")
	download.Dir = filepath.Join("testdata", "kubernetes-"+oldest)
	download.Env = append(os.Environ(), "GOWORK=off")
	out, err := download.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var module struct{ Dir, Version string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(module.Version, "v0."+strings.TrimPrefix(oldest, "1.")+".") {
		t.Fatalf("testdata pins the types of %s", module.Version)
	}
	checked := map[string]bool{}
	for name, values := range installations {
		for _, o := range objects(t, values) {
			group := o.GroupVersionKind().Group
			if group == "monitoring.coreos.com" {
				continue
			}
			if group == "" {
				group = "core"
			}
			known := fields(t, filepath.Join(module.Dir, "testdata", "HEAD", group+"."+o.GroupVersionKind().Version+"."+o.GetKind()+".yaml"))
			for _, unknown := range unknownFields(o.Object, known, "") {
				t.Errorf("%s: %s: Kubernetes %s has no field %s", name, o.GetKind(), oldest, unknown)
			}
			checked[o.GetKind()] = true
		}
	}
	for _, kind := range []string{"ClusterRole", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "StatefulSet"} {
		if !checked[kind] {
			t.Errorf("no %s was checked", kind)
		}
	}

	// A field that the version does not have is found.
	deployment := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "c", "restartPolicyRules": []any{}}},
	}}}}
	known := fields(t, filepath.Join(module.Dir, "testdata", "HEAD", "apps.v1.Deployment.yaml"))
	if got := unknownFields(deployment, known, ""); len(got) != 1 || got[0] != ".spec.template.spec.containers[].restartPolicyRules" {
		t.Errorf("unknown fields: %v", got)
	}
}

// The chart and the pages name the same version.
func TestOldestVersionIsDocumented(t *testing.T) {
	for file, want := range map[string]string{
		"deploy/helm/informer-exporter/Chart.yaml":     `(?m)^kubeVersion: ">=` + regexp.QuoteMeta(oldest) + `\.0-0"$`,
		"deploy/kustomize/sharding/kustomization.yaml": `Requires Kubernetes ` + regexp.QuoteMeta(oldest) + ` `,
		"docs/install.md": `Kubernetes ` + regexp.QuoteMeta(oldest) + ` or newer`,
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s does not match %s (%v)", file, want, err)
		}
	}
}

// fields returns an object in which each field of its type has a value.
func fields(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// unknownFields returns the paths of the fields that known does not have. Maps of strings, such as labels, have any key.
func unknownFields(o, known any, path string) []string {
	var unknown []string
	switch o := o.(type) {
	case map[string]any:
		known, _ := known.(map[string]any)
		for name, value := range o {
			switch field, ok := known[name]; {
			case ok:
				unknown = append(unknown, unknownFields(value, field, path+"."+name)...)
			case !isStringMap(known, path):
				unknown = append(unknown, path+"."+name)
			}
		}
	case []any:
		var element any
		if known, _ := known.([]any); len(known) > 0 {
			element = known[0]
		}
		for _, value := range o {
			unknown = append(unknown, unknownFields(value, element, path+"[]")...)
		}
	}
	return unknown
}

// isStringMap reports whether a field is a map of strings. In an object with every field, its only key is the field's name
// with the suffix Key.
func isStringMap(known map[string]any, path string) bool {
	_, ok := known[path[strings.LastIndex(path, ".")+1:]+"Key"]
	return ok && len(known) == 1
}
