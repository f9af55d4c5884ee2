package discovery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// servedBy returns the resources that a cluster serves, such as "apps/v1,v1beta1/deployments,replicasets", with the preferred
// version first. The discovery of "down:example.com/v1" fails.
func servedBy(t testing.TB, groups ...string) *served {
	t.Helper()
	s, err := discoverFunc(exportertest.Discovery(groups...)).discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write formats choices as "widgets.example.com@v1", followed by "?" if it is optional and by "!" if the kind is cluster-scoped.
func write(choices []Choice) []string {
	var names []string
	for _, c := range choices {
		name := c.Type() + "@" + c.Version
		if c.Optional {
			name += "?"
		}
		if !c.Namespaced {
			name += "!"
		}
		names = append(names, name)
	}
	return names
}

func TestChoose(t *testing.T) {
	core := "v1/pods,nodes,secrets,events"
	events, leases := "events.k8s.io/v1/events", "coordination.k8s.io/v1/leases"
	widgets := "example.com/v1,v1beta1/widgets,planets"
	for _, tc := range []struct {
		name, yaml string
		served     []string
		before     []kinds.Kind
		want       []string
	}{
		{
			"by default the served default kinds, and custom resources", "",
			[]string{core, events, leases, widgets, "apps/v1/deployments,controllerrevisions", "autoscaling/v1/horizontalpodautoscalers"}, nil,
			[]string{"nodes@v1!", "pods@v1", "deployments.apps@v1", "horizontalpodautoscalers.autoscaling@v1", "leases.coordination.k8s.io@v1", "planets.example.com@v1?!", "widgets.example.com@v1?"},
		},
		{"no Leases", "objects: {leases: false}", []string{core, leases}, nil, []string{"nodes@v1!", "pods@v1"}},
		{"Leases that are named", "{objects: {leases: false}, extraResources: [leases.coordination.k8s.io]}", []string{core, leases}, nil, []string{"nodes@v1!", "pods@v1", "leases.coordination.k8s.io@v1"}},
		{"everything but Leases", `{objects: {leases: false}, resources: ["*"]}`, []string{core, leases}, nil, []string{"nodes@v1?!", "pods@v1?"}},
		{"no custom resources", "customResources: false", []string{core, widgets}, nil, []string{"nodes@v1!", "pods@v1"}},
		{
			"groups that are Kubernetes' own by their names only", "resources: [pods]\nextraResources: ['*.k8s.io']",
			[]string{core, "gateway.networking.k8s.io/v1/gateways", leases}, nil, []string{"pods@v1", "gateways.gateway.networking.k8s.io@v1?", "leases.coordination.k8s.io@v1?"},
		},
		{"their custom resources", "", []string{core, "gateway.networking.k8s.io/v1/gateways", "apiregistration.k8s.io/v1/apiservices"}, nil, []string{"nodes@v1!", "pods@v1", "gateways.gateway.networking.k8s.io@v1?"}},
		{
			"everything but what must be named", `resources: ["*"]`, []string{core, events, leases, widgets}, nil,
			[]string{"leases.coordination.k8s.io@v1?", "nodes@v1?!", "planets.example.com@v1?!", "pods@v1?", "widgets.example.com@v1?"},
		},
		{
			"everything and what is named", `resources: ["*", secrets, events.events.k8s.io]`, []string{core, events, leases}, nil,
			[]string{"secrets@v1", "events.events.k8s.io@v1", "leases.coordination.k8s.io@v1?", "nodes@v1?!", "pods@v1?"},
		},
		{"exclusions", `{resources: ["*", planets.example.com], excludeResources: [pods, "*.example.com"]}`, []string{core, widgets}, nil, []string{"nodes@v1?!"}},
		{"no custom resources if resources are given", `resources: [pods]`, []string{core, widgets}, nil, []string{"pods@v1"}},
		{"extra patterns", `extraResources: ["sec*", "*.apps", "deployments*"]`, []string{core, "apps/v1/deployments,controllerrevisions"}, nil, []string{"nodes@v1!", "pods@v1", "deployments.apps@v1", "controllerrevisions.apps@v1?"}},
		{"namespaces", "namespaces: [shop]\nextraResources: [planets.example.com]", []string{core, widgets}, nil, []string{"pods@v1", "planets.example.com@v1!", "widgets.example.com@v1?"}},
		{
			"the version and scope of what is named", "resources: [widgets.example.com, {name: planets.example.com, version: v1beta1, scope: Namespaced}]",
			[]string{core, widgets}, nil, []string{"widgets.example.com@v1", "planets.example.com@v1beta1!"},
		},
		{
			"what is named and missing", "resources: [pods, widgets.example.com, {name: gadgets.example.com, version: v2, scope: Cluster}, roles.rbac.authorization.k8s.io]",
			[]string{core}, nil, []string{"pods@v1", "widgets.example.com@v1", "gadgets.example.com@v2!", "roles.rbac.authorization.k8s.io@v1"},
		},
		{"a served version is kept", "resources: ['*']", []string{widgets}, []kinds.Kind{{Group: "example.com", Version: "v1beta1", Resource: "widgets", Namespaced: true}}, []string{"planets.example.com@v1?!", "widgets.example.com@v1beta1?"}},
		{"one that is no longer served is not", "resources: ['*', planets.example.com]", []string{widgets}, []kinds.Kind{{Group: "example.com", Version: "v1alpha1", Resource: "widgets", Namespaced: true}, {Group: "example.com", Version: "v1alpha1", Resource: "planets", Namespaced: false}}, []string{"planets.example.com@v1!", "widgets.example.com@v1?"}},
		{"what has vanished", "resources: ['*']", []string{core}, []kinds.Kind{{Group: "example.com", Version: "v1", Resource: "widgets", Namespaced: true}}, []string{"nodes@v1?!", "pods@v1?"}},
		{"but keeps its version if it is named", "resources: [widgets.example.com]", []string{core}, []kinds.Kind{{Group: "example.com", Version: "v1beta1", Resource: "widgets", Namespaced: true}}, []string{"widgets.example.com@v1beta1"}},
		{
			"what is only down is kept", "resources: ['*', planets.example.com]", []string{core, "down:example.com/v1"},
			[]kinds.Kind{{Group: "example.com", Version: "v1", Resource: "widgets", Namespaced: true}, {Group: "example.com", Version: "v7", Resource: "planets", Namespaced: false}, {Group: "example.org", Version: "v1", Resource: "others", Namespaced: true}},
			[]string{"planets.example.com@v7!", "nodes@v1?!", "pods@v1?", "widgets.example.com@v1?"},
		},
		{
			"but not if the configuration no longer asks for it", "resources: [pods]", []string{core, "down:example.com/v1"},
			[]kinds.Kind{{Group: "example.com", Version: "v1", Resource: "widgets", Namespaced: true}}, []string{"pods@v1"},
		},
		{
			"the version of a group that is down in part is kept", "resources: ['*']", []string{"example.com/v1/widgets", "down:example.com/v2"},
			[]kinds.Kind{{Group: "example.com", Version: "v2", Resource: "widgets", Namespaced: true}}, []string{"widgets.example.com@v2?"},
		},
		{"default kinds of a group that is down", "", []string{"v1/pods", "down:apps/v1"}, nil, []string{"pods@v1", "daemonsets.apps@v1", "deployments.apps@v1", "replicasets.apps@v1", "statefulsets.apps@v1"}},
		{"served under two groups", "resources: ['*']", []string{"extensions/v1beta1/ingresses,scales", "networking.k8s.io/v1/ingresses"}, nil, []string{"ingresses.networking.k8s.io@v1?", "scales.extensions@v1beta1?"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := config.Parse([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]kinds.Kind{}
			for _, k := range tc.before {
				before[k.Type()] = k
			}
			if got := write(choose(config, servedBy(t, tc.served...), before)); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestDiscoverErrors(t *testing.T) {
	for name, f := range map[string]discoverFunc{
		"no answer": func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
			return nil, nil, errors.New("connection refused")
		},
		"nothing":                  exportertest.Discovery(),
		"nothing but what is down": exportertest.Discovery("down:example.com/v1"),
	} {
		if s, err := f.discover(t.Context()); err == nil {
			t.Errorf("%s: %+v instead of an error", name, s)
		}
	}
}

func types(list []kinds.Kind) []string {
	var names []string
	for _, k := range list {
		names = append(names, k.Type())
	}
	return names
}

// named returns the kinds that a configuration names, if they are known without the API server.
func named(c config.Config) (list []kinds.Kind) {
	for _, choice := range choose(c, nil, nil) {
		list = append(list, choice.Kind)
	}
	return list
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
		{name: "an extra resource that exists", yaml: "extraResources:\n- name: pods\n"},
		{
			name:  "a custom resource",
			yaml:  "resources:\n- name: pods\nextraResources:\n- {name: widgets.example.com, version: v1beta1, scope: Cluster}\n",
			kinds: []string{"pods", "widgets.example.com"},
		},
		{
			name:  "namespaces leave out what has none",
			yaml:  "namespaces: [shop, pay]\nextraResources: [{name: nodes}]\n",
			kinds: append(types(slices.DeleteFunc(kinds.Default(), func(k kinds.Kind) bool { return !k.Namespaced })), "nodes"),
		},
		{name: "names alone", yaml: "resources: [pods, deployments.apps]\nextraResources: [{name: nodes}, secrets]", kinds: []string{"pods", "deployments.apps", "nodes", "secrets"}},
		{name: "patterns wait for the API server", yaml: `resources: ["*", pods, "*.example.com", widgets.example.com]`, kinds: []string{"pods"}},
		{name: "exclusions win", yaml: "resources: [pods, nodes, deployments.apps]\nexcludeResources: [nodes, '*.apps']", kinds: []string{"pods"}},
		{name: "JSON", yaml: `{"resources": [{"name": "leases.coordination.k8s.io"}]}`, kinds: []string{"leases.coordination.k8s.io"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := config.Parse([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			got := types(named(config))
			want := tc.kinds
			if want == nil {
				want = types(kinds.Default())
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestParseConfigCompletesKinds(t *testing.T) {
	config, err := config.Parse([]byte(`
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
	got := named(config)
	want := []kinds.Kind{
		{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true},
		{Group: "autoscaling", Version: "v1", Resource: "horizontalpodautoscalers", Namespaced: true},
		{Group: "example.com", Version: "v1", Resource: "widgets", Namespaced: true},
		{Group: "example.com", Version: "v1", Resource: "planets", Namespaced: false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzConfig selects kinds of a cluster with any valid configuration.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("resources: [{name: pods}]\nnamespaces: [a]"))
	f.Add([]byte("extraResources: [{name: widgets.example.com, version: v1, scope: Cluster}]"))
	f.Add([]byte("resources: ['*', secrets]\nexcludeResources: ['*.example.com', nodes]\nlabelSelector: a in (b,c),!d"))
	f.Add([]byte("customResources: false\nchecks: {audit: 1m, freshness: 0s}"))
	f.Add([]byte("resources: &r [pods, {name: a.b}]\nextraResources: *r"))
	cluster := servedBy(f, "v1/pods,nodes,secrets,events", "events.k8s.io/v1/events", "example.com/v1,v2/widgets", "apps/v1/deployments")
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := config.Parse(data)
		if err != nil {
			return
		}
		if err := config.Validate(); err != nil {
			t.Fatalf("parsed without an error, but Validate returns: %v", err)
		}
		for _, s := range []*served{nil, cluster} {
			seen := map[string]bool{}
			for _, k := range choose(config, s, nil) {
				switch {
				case seen[k.Type()], k.Version == "", strings.ContainsAny(k.Group+k.Version+k.Resource, "/ ?#%*"):
					t.Errorf("bad or repeated kind %+v", k)
				case k.Optional && kinds.MustBeNamed(k.Type()):
					t.Errorf("%s was not named", k.Type())
				case slices.Contains(config.ExcludeResources, k.Type()), slices.Contains(config.ExcludeResources, "*"):
					t.Errorf("%s is excluded", k.Type())
				}
				seen[k.Type()] = true
				for _, namespace := range config.Scopes(k.Kind) {
					if s := informers.NewSpec(config, k.Kind, namespace); s.Checks.Freshness < 0 || s.Checks.Audit < 0 {
						t.Errorf("checks %+v", s.Checks)
					}
				}
			}
		}
	})
}

func TestLeasesAreADefaultKind(t *testing.T) {
	off := ptr.To(false)
	watched := func(c config.Config) bool {
		return slices.ContainsFunc(choose(c, nil, nil), func(c Choice) bool { return c.Type() == kinds.Leases })
	}
	if !watched(config.Config{}) || watched(config.Config{Objects: config.Objects{Leases: off}}) || !watched(config.Config{Objects: config.Objects{Leases: off}, ExtraResources: []config.Resource{{Name: kinds.Leases}}}) {
		t.Error("Leases are a default kind unless they are off")
	}
}
