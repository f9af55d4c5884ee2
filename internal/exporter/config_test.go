package exporter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
)

func types(kinds []Kind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Type())
	}
	return names
}

func TestParseConfig(t *testing.T) {
	for _, tc := range []struct {
		name  string
		yaml  string
		kinds []string // nil: the default ones
	}{
		{name: "empty", yaml: ""},
		{name: "only a comment", yaml: "# later\n"},
		{name: "resources replace", yaml: "resources:\n- name: pods\n- name: secrets\n", kinds: []string{"pods", "secrets"}},
		{name: "an extra one that is there already", yaml: "extraResources:\n- name: pods\n"},
		{
			name:  "a custom resource",
			yaml:  "resources:\n- name: pods\nextraResources:\n- {name: widgets.example.com, version: v1beta1, scope: Cluster}\n",
			kinds: []string{"pods", "widgets.example.com"},
		},
		{
			name:  "namespaces leave out what has none",
			yaml:  "namespaces: [shop, pay]\nextraResources: [{name: nodes}]\n",
			kinds: append(types(slices.DeleteFunc(DefaultKinds(), func(k Kind) bool { return !k.Namespaced })), "nodes"),
		},
		{name: "JSON", yaml: `{"resources": [{"name": "leases.coordination.k8s.io"}]}`, kinds: []string{"leases.coordination.k8s.io"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := ParseConfig([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			kinds, err := config.kinds()
			if err != nil {
				t.Fatal(err)
			}
			want := tc.kinds
			if want == nil {
				want = types(DefaultKinds())
			}
			if got := types(kinds); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestParseConfigCompletesKinds(t *testing.T) {
	config, err := ParseConfig([]byte(`
resources:
- name: deployments.apps
- name: horizontalpodautoscalers.autoscaling
  version: v1
- name: widgets.example.com
  version: v1
- name: planets.example.com
  version: v1
  scope: Cluster
`))
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := config.kinds()
	if err != nil {
		t.Fatal(err)
	}
	want := []Kind{
		{"apps", "v1", "deployments", true},
		{"autoscaling", "v1", "horizontalpodautoscalers", true},
		{"example.com", "v1", "widgets", true},
		{"example.com", "v1", "planets", false},
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

// Every error names the field and says what to write instead.
func TestParseConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		want []string
	}{
		{"resource: []", []string{`unknown field "resource"`}},
		{"resources: [{name: pods, apiVersion: v1}]", []string{`unknown field "apiVersion"`}},
		{"namespaces: [a]\nnamespaces: [b]", []string{`"namespaces"`, "already set"}},
		{"resources: {pods: true}", []string{"resources"}},
		{"resources: [{name: Pods}]", []string{"resources[0].name", `"Pods"`, "lower case"}},
		{"resources: [{}]", []string{"resources[0].name"}},
		{"resources: [{name: pods}, {name: pods}]", []string{"resources[1].name", "twice"}},
		{"extraResources: [{name: widgets.example.com}]", []string{"extraResources[0].version", "missing"}},
		{"resources: [{name: widgets.example.com, version: V1}]", []string{"resources[0].version", `"V1"`}},
		{"resources: [{name: widgets.example.com, version: ../secrets}]", []string{"resources[0].version"}},
		{"resources: [{name: pods/log}]", []string{"resources[0].name"}},
		{"resources: [{name: pods, scope: cluster}]", []string{"resources[0].scope", "Namespaced or Cluster"}},
		{"resources: [{name: pods, scope: Cluster}]", []string{"resources[0].scope", "leave it out"}},
		{`namespaces: ["*"]`, []string{"namespaces[0]", "leave out namespaces"}},
		{"checks: {freshness: 10ms}", []string{"checks.freshness", "10ms is too short", "0s to turn it off"}},
		{"checks: {freshness: -1s}", []string{"checks.freshness"}},
		{`namespaces: [a, a]`, []string{"namespaces[1]", "twice"}},
		{"resources: [{name: A}]\nnamespaces: [B]", []string{"resources[0].name", "namespaces[0]"}}, // all at once
		{"\x00", []string{""}},
	} {
		t.Run(tc.yaml, func(t *testing.T) {
			_, err := ParseConfig([]byte(tc.yaml))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not have %q", err, want)
				}
			}
		})
	}
}

func TestChecks(t *testing.T) {
	for text, want := range map[string]collectors.Checks{
		"{}":                                 {Freshness: 30 * time.Second, Audit: 10 * time.Minute},
		"checks: {freshness: 0s, audit: 0s}": {},
		"checks: {freshness: 1m, audit: 1h}": {Freshness: time.Minute, Audit: time.Hour},
	} {
		c, err := ParseConfig([]byte(text))
		if err != nil || c.Checks.library() != want {
			t.Errorf("%s: %+v, %v, want %+v", text, c.Checks.library(), err, want)
		}
	}
}

func TestTooManyNamespaces(t *testing.T) {
	var config Config
	for i := range maxNamespaces {
		config.Namespaces = append(config.Namespaces, fmt.Sprintf("team-%d", i))
	}
	if err := config.Validate(); err == nil || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("error %v does not name the field", err)
	}
	config.Namespaces = config.Namespaces[1:]
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLoadConfig(t *testing.T) {
	if config, err := LoadConfig(""); err != nil || len(config.Resources) != 0 {
		t.Errorf("without a file: %+v, %v", config, err)
	}
	dir := t.TempDir()
	if _, err := LoadConfig(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("missing file: error %v does not name the flag", err)
	}
	path := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(path, []byte("nope: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadConfig(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("bad file: error %v names neither flag nor file", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("resources: [{name: pods}]\nnamespaces: [a]"))
	f.Add([]byte("extraResources: [{name: widgets.example.com, version: v1, scope: Cluster}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := ParseConfig(data)
		if err != nil {
			return
		}
		kinds, err := config.kinds()
		if err != nil {
			t.Fatalf("valid, but: %v", err)
		}
		seen := map[string]bool{}
		for _, k := range kinds {
			if seen[k.Type()] || k.Version == "" || strings.ContainsAny(k.Group+k.Version+k.Resource, "/ ?#%") {
				t.Errorf("bad or repeated kind %+v", k)
			}
			seen[k.Type()] = true
		}
	})
}
