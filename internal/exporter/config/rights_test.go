package config

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// lines formats rules as "apps: deployments statefulsets".
func lines(t *testing.T, rules []rbacv1.PolicyRule) (all []string) {
	t.Helper()
	for _, r := range rules {
		if !slices.Equal(r.Verbs, []string{"list", "watch"}) || len(r.APIGroups) != 1 {
			t.Errorf("rule %+v", r)
		}
		all = append(all, r.APIGroups[0]+": "+strings.Join(r.Resources, " "))
	}
	return all
}

// The rules grant what a configuration selects and, where RBAC can express it, no more. Notes name what they lack or grant in
// excess.
func TestRights(t *testing.T) {
	for _, tc := range []struct {
		name, yaml          string
		cluster, namespaced []string
		note                string // part of the only note; none if empty
	}{
		{"names", "resources: [pods, nodes, deployments.apps, pods.metrics.k8s.io]", []string{": nodes pods", "apps: deployments", "metrics.k8s.io: pods"}, nil, ""},
		{"in namespaces", "resources: [pods, nodes]\nnamespaces: [shop]", []string{": nodes"}, []string{": pods"}, ""},
		{"exclusions", "resources: [pods, secrets, configmaps]\nexcludeResources: ['sec*', configmaps]", []string{": pods"}, nil, ""},
		{"everything", "resources: [pods, '*']", []string{"*: *"}, nil, "including the contents of Secrets"},
		{"everything in namespaces", "resources: [nodes, '*']\nnamespaces: [shop]", []string{": nodes"}, []string{"*: *"}, "including the contents of Secrets"},
		{"a group", "resources: [widgets.example.com, '*.example.com', pods]", []string{": pods", "example.com: *"}, nil, "The pattern *.example.com is granted for the group example.com only."},
		{"a resource of all groups", "resources: ['widgets.*']\nnamespaces: [shop]", nil, []string{"*: widgets"}, ""},
		{"another pattern", "resources: [pods, 'w*.example.com']", []string{": pods"}, nil, "The pattern w*.example.com cannot be granted."},
		{"a pattern of resources and groups", "resources: [pods, '*.*']", []string{": pods"}, nil, "The pattern *.* cannot be granted."},
		{"a pattern without a group", "resources: [pods, 'node*']", []string{": pods"}, nil, "The pattern node* cannot be granted."},
		{"split by namespaces, possibly", "resources: [pods]\nsplitResources: [pods]", []string{": namespaces pods"}, nil, ""},
		{"split by namespaces", "resources: [pods]\nsplitResources: [pods]\nsplitBy: namespaces", []string{": namespaces pods"}, nil, ""},
		{"split by UID", "resources: [pods]\nsplitResources: [pods]\nsplitBy: uid", []string{": pods"}, nil, ""},
		{"split by given namespaces", "resources: [pods]\nsplitResources: [pods]\nnamespaces: [a, b]", nil, []string{": pods"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Parse([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			r := c.Rights()
			if got := lines(t, r.Cluster); !slices.Equal(got, tc.cluster) {
				t.Errorf("cluster-wide: %q, want %q", got, tc.cluster)
			}
			if got := lines(t, r.Namespaced); !slices.Equal(got, tc.namespaced) || !slices.Equal(r.Namespaces, c.Namespaces) {
				t.Errorf("in %v: %q, want %q", r.Namespaces, got, tc.namespaced)
			}
			if (len(r.Notes) > 0) != (tc.note != "") || len(r.Notes) > 1 || !strings.Contains(strings.Join(r.Notes, ""), tc.note) {
				t.Errorf("notes %q, want %q", r.Notes, tc.note)
			}
		})
	}
}

// A note says that custom resources need rules that only the user can write. Without custom resources there is no note.
func TestRightsOfCustomResources(t *testing.T) {
	for text, want := range map[string]int{"": 1, "customResources: false": 0, "resources: [pods]": 0, "extraResources: [secrets]": 1} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if notes := c.Rights().Notes; len(notes) != want || want > 0 && !strings.Contains(notes[0], "add their groups to extraResources") {
			t.Errorf("%q: notes %q, want %d", text, notes, want)
		}
	}
}

// Rights.Instead grants the known kinds, except those that must be named. With configured namespaces, it grants only namespaced
// kinds.
func TestRightsInsteadOfEverything(t *testing.T) {
	for text, nodes := range map[string]bool{"resources: ['*']": true, "resources: ['*']\nnamespaces: [shop]": false} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		core := c.Rights().Instead[0]
		if core.APIGroups[0] != "" || !slices.Contains(core.Resources, "pods") || slices.Contains(core.Resources, "nodes") != nodes ||
			slices.Contains(core.Resources, "secrets") || slices.Contains(core.Resources, "events") {
			t.Errorf("%q: %+v", text, core)
		}
	}
}
