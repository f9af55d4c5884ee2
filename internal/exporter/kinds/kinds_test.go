package kinds

import (
	"cmp"
	"os"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range slices.Concat(defaultKinds, optionalKinds) {
		if seen[k.Type()] {
			t.Errorf("%s is repeated", k.Type())
		}
		seen[k.Type()] = true
		if got, ok := Known(k.Type()); !ok || got != k {
			t.Errorf("Known(%q) = %+v, %t", k.Type(), got, ok)
		}
	}
	if !slices.IsSortedFunc(defaultKinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	}) {
		t.Error("the default kinds are not in order")
	}
	for _, name := range []string{"secrets", "events"} {
		if slices.ContainsFunc(defaultKinds, func(k Kind) bool { return k.Type() == name }) {
			t.Errorf("%s must not be a default kind", name)
		}
	}
	Default()[0].Resource = "changed"
	if defaultKinds[0].Resource == "changed" {
		t.Error("Default does not return a copy")
	}
}

// The manifest grants what the exporter watches by default, and nothing else.
func TestClusterRoleGrantsTheDefaultKinds(t *testing.T) {
	data, err := os.ReadFile("../../../deploy/kustomize/base/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	var granted []string
	for _, rule := range role.Rules {
		if !slices.Equal(rule.Verbs, []string{"list", "watch"}) {
			t.Errorf("verbs of %v are %v, want list and watch", rule.Resources, rule.Verbs)
		}
		if len(rule.ResourceNames)+len(rule.NonResourceURLs) > 0 {
			t.Errorf("rule for %v has more than resources", rule.Resources)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				granted = append(granted, Kind{Group: group, Resource: resource}.Type())
			}
		}
	}
	var watched []string
	for _, k := range Default() {
		watched = append(watched, k.Type())
	}
	slices.Sort(granted)
	slices.Sort(watched)
	if !slices.Equal(granted, watched) {
		t.Errorf("the ClusterRole grants\n%v\nand the exporter watches\n%v", granted, watched)
	}
}

// Known returns the scope and version of a resource without an API server, or nothing.
func TestKnown(t *testing.T) {
	for name, want := range map[string]Kind{
		"pods":                                   {"", "v1", "pods", true},
		"nodes":                                  {"", "v1", "nodes", false},
		"horizontalpodautoscalers.autoscaling":   {"autoscaling", "v2", "horizontalpodautoscalers", true},
		"clusterroles.rbac.authorization.k8s.io": {"rbac.authorization.k8s.io", "v1", "clusterroles", false},
	} {
		if got, ok := Known(name); !ok || got != want {
			t.Errorf("%s: %+v, known %t; want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "widgets.example.com", "pods.apps", "deployments"} {
		if got, ok := Known(name); ok || got != (Kind{}) {
			t.Errorf("%s: %+v, known %t", name, got, ok)
		}
	}
	if all := All(); len(all) != len(defaultKinds)+len(optionalKinds) || !slices.Contains(all, Namespaces) {
		t.Errorf("%d kinds", len(all))
	}
}

// A * stands for any characters, dots included. Without one, only the name itself matches.
func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		patterns []string
		name     string
		want     bool
	}{
		{[]string{"pods"}, "pods", true},
		{[]string{"pods"}, "pods.metrics.k8s.io", false},
		{[]string{"nodes", "*"}, "pods.metrics.k8s.io", true},
		{[]string{"*.example.com"}, "widgets.example.com", true},
		{[]string{"*.example.com"}, "widgets.shop.example.com", true},
		{[]string{"*.example.com"}, "example.com", false},
		{[]string{"p*s"}, "pods", true},
		{[]string{"p*s"}, "pod", false},
		{nil, "pods", false},
	} {
		if got := Matches(tc.patterns, tc.name); got != tc.want {
			t.Errorf("%v match %s: %t, want %t", tc.patterns, tc.name, got, tc.want)
		}
	}
	for name, want := range map[string]bool{"*": true, "p*s": true, "pods": false, "": false} {
		if IsPattern(name) != want {
			t.Errorf("%q is a pattern: %t, want %t", name, !want, want)
		}
	}
}

// Groups of Kubernetes itself are not custom, regardless of their names; only some kinds define others or must be named.
func TestProperties(t *testing.T) {
	for group, want := range map[string]bool{
		"": false, "apps": false, "storage.k8s.io": false, "apiextensions.k8s.io": false, "apiregistration.k8s.io": false,
		"example.com": true, "gateway.networking.k8s.io": true, "metrics.k8s.io": true,
	} {
		if IsCustom(group) != want {
			t.Errorf("%q is custom: %t, want %t", group, !want, want)
		}
	}
	defining := map[string]Kind{
		"customresourcedefinitions": {Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		"apiservices":               {Group: "apiregistration.k8s.io", Resource: "apiservices"},
		"pods":                      {Resource: "pods"},
	}
	for name, kind := range defining {
		if want := name != "pods"; DefinesKinds(kind) != want {
			t.Errorf("%s define kinds: %t, want %t", name, !want, want)
		}
	}
	for name, want := range map[string]bool{"secrets": true, "events": true, "events.events.k8s.io": true, "pods": false, "secrets.example.com": false} {
		if MustBeNamed(name) != want {
			t.Errorf("%s must be named: %t, want %t", name, !want, want)
		}
	}
}
