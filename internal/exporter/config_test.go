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

// named returns what a configuration names, as far as it is known without the API server.
func named(c Config) (kinds []Kind) {
	for _, choice := range c.choose(nil, nil) {
		kinds = append(kinds, choice.Kind)
	}
	return kinds
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
		{name: "names alone", yaml: "resources: [pods, deployments.apps]\nextraResources: [{name: nodes}, secrets]", kinds: []string{"pods", "deployments.apps", "nodes", "secrets"}},
		{name: "patterns wait for the API server", yaml: `resources: ["*", pods, "*.example.com", widgets.example.com]`, kinds: []string{"pods"}},
		{name: "exclusions win", yaml: "resources: [pods, nodes, deployments.apps]\nexcludeResources: [nodes, '*.apps']", kinds: []string{"pods"}},
		{name: "JSON", yaml: `{"resources": [{"name": "leases.coordination.k8s.io"}]}`, kinds: []string{"leases.coordination.k8s.io"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := ParseConfig([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			kinds := named(config)
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
	kinds := named(config)
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
		{"resource: []", []string{`line 1: unknown field "resource"; did you mean resources?`}},
		{"resources: [{name: pods, apiVersion: v1}]", []string{`line 1: resources[0]: unknown field "apiVersion"`}},
		{"namespaces: [a]\nnamespaces: [b]", []string{`line 2: "namespaces" is there twice`}},
		{"resources: {pods: true}", []string{"resources"}},
		{"resources: [{name: Pods}]", []string{"resources[0].name", `"Pods"`, "lower case"}},
		{"resources: [{}]", []string{"resources[0].name"}},
		{"resources: [{name: pods}, {name: pods}]", []string{"resources[1].name", "twice"}},
		{"namespaces: [a]\nresources:\n- pods\n- name: Pods", []string{`line 4: resources[1].name: "Pods"`}},
		{`resources: [{name: "*.apps", version: v1}]`, []string{"resources[0]", "neither version nor scope"}},
		{`resources: ["[a-z]*"]`, []string{`line 1: resources[0].name: "[a-z]*" is not a pattern`}},
		{`resources: ["*/log"]`, []string{"resources[0].name"}},
		{"excludeResources: [pods, Pods]", []string{`line 1: excludeResources[1]: "Pods" is not a resource`}},
		{"splitResources: [pods, Pods]", []string{`line 1: splitResources[1]: "Pods" is not a resource`}},
		{"excludeResources: [{name: pods}]", []string{"excludeResources[0]: fields where there should be a text"}},
		{"splitResources: [pods]\nsplitBy: uid", nil},
		{"splitBy: namespaces", nil},
		{"splitResources: [pods]\nsplitBy: UID", []string{`line 2: splitBy: "UID" is no way to spread objects; write uid or namespaces`}},
		{"# all of a team\nlabelSelector: team=", nil},
		{"# all of a team\nlabelSelector: team in", []string{"line 2: labelSelector:", "team=shop"}},
		{"labelSelector: {team: shop}", []string{"labelSelector: fields where there should be a text"}},
		{"customResources: never", []string{`customResources: "never" where there should be true or false`}},
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
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("error %v", err)
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

func TestOpenConfig(t *testing.T) {
	if file, err := OpenConfig(""); err != nil || len(file.Config().Resources) != 0 {
		t.Errorf("without a file: %+v, %v", file, err)
	}
	dir := t.TempDir()
	if _, err := OpenConfig(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("missing file: error %v does not name the flag", err)
	}
	path := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(path, []byte("nope: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenConfig(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("bad file: error %v names neither flag nor file", err)
	}
}

// FuzzConfig gives whatever is a valid configuration a cluster to choose from.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("resources: [{name: pods}]\nnamespaces: [a]"))
	f.Add([]byte("extraResources: [{name: widgets.example.com, version: v1, scope: Cluster}]"))
	f.Add([]byte("resources: ['*', secrets]\nexcludeResources: ['*.example.com', nodes]\nlabelSelector: a in (b,c),!d"))
	f.Add([]byte("customResources: false\nchecks: {audit: 1m, freshness: 0s}"))
	f.Add([]byte("resources: &r [pods, {name: a.b}]\nextraResources: *r"))
	cluster := servedBy(f, "v1/pods,nodes,secrets,events", "events.k8s.io/v1/events", "example.com/v1,v2/widgets", "apps/v1/deployments")
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := ParseConfig(data)
		if err != nil {
			return
		}
		if err := config.Validate(); err != nil {
			t.Fatalf("it was read, but: %v", err)
		}
		for _, s := range []*served{nil, cluster} {
			seen := map[string]bool{}
			for _, k := range config.choose(s, nil) {
				switch {
				case seen[k.Type()], k.Version == "", strings.ContainsAny(k.Group+k.Version+k.Resource, "/ ?#%*"):
					t.Errorf("bad or repeated kind %+v", k)
				case k.found && isQuiet(k.Type()):
					t.Errorf("%s was not named", k.Type())
				case slices.Contains(config.ExcludeResources, k.Type()), slices.Contains(config.ExcludeResources, "*"):
					t.Errorf("%s is excluded", k.Type())
				}
				seen[k.Type()] = true
				for _, namespace := range config.scopes(k.Kind) {
					if s := config.subject(k.Kind, namespace); s.checks.Freshness < 0 || s.checks.Audit < 0 {
						t.Errorf("checks %+v", s.checks)
					}
				}
			}
		}
	})
}
