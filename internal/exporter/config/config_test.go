package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Errors name the field and, where it is known, the fix.
func TestParseConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		want []string
	}{
		{"resource: []", []string{`line 1: unknown field "resource"`}},
		{"resources: [{name: pods, apiVersion: v1}]", []string{`line 1: unknown field "apiVersion"`}},
		{"namespaces: [a]\nnamespaces: [b]", []string{`line 2: mapping key "namespaces" already defined at line 1`}},
		{"resources: {pods: true}", []string{"resources"}},
		{"resources: [pods, widgets.example_com]", []string{`line 1: resources[1].name: "widgets.example_com" is not a resource`}},
		{"extraResources: [pods, Pods]", []string{`line 1: extraResources[1].name: "Pods" is not a resource`}},
		{"resources: [pods]\nextraResources: [pods]", nil}, // the second has no effect
		{`resources: [{name: "*.apps", scope: Cluster}]`, []string{"resources[0]", "has no version or scope"}},
		{"objects: {withoutGenerations: [pods, Pods]}", []string{`line 1: objects.withoutGenerations[1]: "Pods" is not a resource`}},
		{"excludeResources: [" + strings.Repeat("a", 252) + "*]", nil},
		{"excludeResources: [" + strings.Repeat("a", 253) + "*]", []string{"excludeResources[0]", "is not a pattern"}},
		{"namespaces: [shop, Shop]", []string{`line 1: namespaces[1]: "Shop" is not a valid namespace; omit namespaces`}},
		{"checks: {freshness: 1s, audit: 1s}", nil},
		{"checks: {audit: 999ms}", []string{"line 1: checks.audit: 999ms is too short"}},
		{"resources: [{name: Pods}]", []string{"resources[0].name", `"Pods"`, "lower case"}},
		{"resources: [{}]", []string{"resources[0].name"}},
		{"resources: [{name: pods}, {name: pods}]", []string{"resources[1].name", "repeated"}},
		{"namespaces: [a]\nresources:\n- pods\n- name: Pods", []string{`line 4: resources[1].name: "Pods"`}},
		{`resources: [{name: "*.apps", version: v1}]`, []string{"resources[0]", "has no version or scope"}},
		{`resources: ["[a-z]*"]`, []string{`line 1: resources[0].name: "[a-z]*" is not a pattern`}},
		{`resources: ["*/log"]`, []string{"resources[0].name"}},
		{"excludeResources: [pods, Pods]", []string{`line 1: excludeResources[1]: "Pods" is not a resource`}},
		{"splitResources: [pods, Pods]", []string{`line 1: splitResources[1]: "Pods" is not a resource`}},
		{"excludeResources: [{name: pods}]", []string{"excludeResources[0]: cannot unmarshal !!map into string"}},
		{"splitResources: [pods]\nsplitBy: uid", nil},
		{"splitBy: namespaces", nil},
		{"detail: essential", nil},
		{"detail: little", []string{`line 1: detail: "little" is not supported; write full or essential`}},
		{"histograms: both", nil},
		{"histograms: sparse", []string{`line 1: histograms: "sparse" is not supported; write classic, native or both`}},
		{"splitResources: [pods]\nsplitBy: UID", []string{`line 2: splitBy: "UID" is not supported; write uid or namespaces`}},
		{"# all of a team\nlabelSelector: team=", nil},
		{"# all of a team\nlabelSelector: team in", []string{`line 2: labelSelector: "team in" is not a selector: `, "; write one like team=shop"}},
		{"labelSelector: {team: shop}", []string{"labelSelector: cannot unmarshal !!map into string"}},
		{"customResources: never", []string{"customResources: cannot unmarshal !!str `never` into bool"}},
		{"resources: [{name: widgets.example.com, version: V1}]", []string{"resources[0].version", `"V1"`}},
		{"resources: [{name: widgets.example.com, version: ../secrets}]", []string{"resources[0].version"}},
		{"resources: [{name: pods/log}]", []string{"resources[0].name"}},
		{"resources: [{name: pods, scope: cluster}]", []string{"resources[0].scope", "Namespaced or Cluster"}},
		{"resources: [{name: pods, scope: Cluster}]", []string{"resources[0].scope", "omit it"}},
		{`namespaces: ["*"]`, []string{"namespaces[0]", "omit namespaces"}},
		{"checks: {freshness: 10ms}", []string{"checks.freshness", "10ms is too short", "0s to turn it off"}},
		{"checks: {freshness: -1s}", []string{"checks.freshness"}},
		{`objects: {firstNamespaces: [a, "*"]}`, []string{`line 1: objects.firstNamespaces[1]: "*" is not a valid namespace`}},
		{`namespaces: [a, a]`, []string{"namespaces[1]", "repeated"}},
		{"resources: [{name: A}]\nnamespaces: [B]", []string{"resources[0].name", "namespaces[0]"}}, // all at once
		{"\x00", []string{""}},
	} {
		t.Run(tc.yaml, func(t *testing.T) {
			_, err := Parse([]byte(tc.yaml))
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
	for text, want := range map[string][2]time.Duration{
		"{}":                                 {30 * time.Second, 10 * time.Minute},
		"checks: {freshness: 0s, audit: 0s}": {},
		"checks: {freshness: 1m, audit: 1h}": {time.Minute, time.Hour},
	} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if freshness, audit := c.Checks.Intervals(); freshness != want[0] || audit != want[1] {
			t.Errorf("%s: %v and %v, want %v", text, freshness, audit, want)
		}
	}
}

func TestTooManyNamespaces(t *testing.T) {
	var config Config
	for i := range MaxNamespaces {
		config.Namespaces = append(config.Namespaces, fmt.Sprintf("team-%d", i))
	}
	if err := config.Validate(); err == nil || !strings.HasPrefix(err.Error(), "namespaces: 10000 are too many") {
		t.Errorf("error %v does not name the field", err)
	}
	config.Namespaces = config.Namespaces[1:]
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
}

func TestOpenConfig(t *testing.T) {
	if file, err := Open(""); err != nil || len(file.Config().Resources) != 0 {
		t.Errorf("without a file: %+v, %v", file, err)
	}
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("missing file: error %v does not name the flag", err)
	}
	path := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(path, []byte("nope: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--config.file") {
		t.Errorf("bad file: error %v, want one with the flag and the file", err)
	}
}

// Whole objects are read unless the configuration or the default excludes them; an empty list excludes none.
func TestWholeObjects(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                "deployments.apps",
		"objects: {withoutGenerations: []}": "pods deployments.apps",
		"objects: {withoutGenerations: ['*.apps']}": "pods",
		"objects: {generations: false}":             "",
		"objects: {generations: true}":              "deployments.apps",
	} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range []string{"pods", "deployments.apps"} {
			if kind, _ := kinds.Known(name); c.Objects.WholeObjects(kind) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// The version and the scope of an entry apply, except the scope of a known kind. A kind that is not known is namespaced by default.
func TestKindOfEntry(t *testing.T) {
	for _, tc := range []struct {
		entry Resource
		want  kinds.Kind
	}{
		{Resource{Name: "pods"}, kinds.Kind{Version: "v1", Resource: "pods", Namespaced: true}},
		{Resource{Name: "nodes"}, kinds.Kind{Version: "v1", Resource: "nodes"}},
		{Resource{Name: "deployments.apps", Version: "v2"}, kinds.Kind{Group: "apps", Version: "v2", Resource: "deployments", Namespaced: true}},
		{Resource{Name: "widgets.example.com"}, kinds.Kind{Group: "example.com", Resource: "widgets", Namespaced: true}},
		{Resource{Name: "planets.example.com", Version: "v1", Scope: ScopeCluster}, kinds.Kind{Group: "example.com", Version: "v1", Resource: "planets"}},
	} {
		if got := (Entry{Resource: tc.entry}).Kind(); got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.entry, got, tc.want)
		}
	}
}
