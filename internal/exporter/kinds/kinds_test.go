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
			t.Errorf("knownKind(%q) = %+v, %t", k.Type(), got, ok)
		}
	}
	if !slices.IsSortedFunc(defaultKinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	}) {
		t.Error("the default kinds are not in order")
	}
	for _, name := range []string{"secrets", "events"} {
		if slices.ContainsFunc(defaultKinds, func(k Kind) bool { return k.Type() == name }) {
			t.Errorf("%s must be asked for", name)
		}
	}
	Default()[0].Resource = "changed"
	if defaultKinds[0].Resource == "changed" {
		t.Error("DefaultKinds does not return a copy")
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
