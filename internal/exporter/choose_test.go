package exporter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// served returns what a cluster serves: "apps/v1,v1beta1/deployments,replicasets" for each group, with the preferred
// version first. Of "down:example.com/v1" it cannot tell.
func servedBy(t testing.TB, groups ...string) *served {
	t.Helper()
	s, err := fakeDiscovery(groups...).discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fakeDiscovery(served ...string) discoverFunc {
	return func(context.Context) (groups []*metav1.APIGroup, lists []*metav1.APIResourceList, err error) {
		failed := map[schema.GroupVersion]error{}
		for _, text := range served {
			text, down := strings.CutPrefix(text, "down:")
			parts := strings.Split(text, "/")
			if len(parts) == 2 && !down {
				parts = slices.Insert(parts, 0, "")
			}
			group := &metav1.APIGroup{Name: parts[0]}
			for _, version := range strings.Split(parts[1], ",") {
				gv := schema.GroupVersion{Group: parts[0], Version: version}
				group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: version})
				if down {
					failed[gv] = errors.New("down")
					continue
				}
				list := &metav1.APIResourceList{GroupVersion: gv.String()}
				for _, name := range strings.Split(parts[2], ",") {
					list.APIResources = append(list.APIResources,
						metav1.APIResource{Name: name, Namespaced: name != "nodes" && name != "planets", Verbs: metav1.Verbs{"list", "watch", "get"}},
						metav1.APIResource{Name: name + "/status", Verbs: metav1.Verbs{"list", "watch"}},
						metav1.APIResource{Name: "unwatched" + name, Verbs: metav1.Verbs{"list", "get"}},
						metav1.APIResource{Name: "unlisted" + name, Verbs: metav1.Verbs{"watch", "get"}})
				}
				lists = append(lists, list)
			}
			group.PreferredVersion = group.Versions[0]
			slices.Reverse(group.Versions) // the order is not what decides
			groups = append(groups, group)
		}
		if len(failed) > 0 {
			err = &discovery.ErrGroupDiscoveryFailed{Groups: failed}
		}
		return groups, lists, err
	}
}

// write writes a choice as "widgets.example.com@v1", with a "?" if it was found.
func write(choices []choice) []string {
	var names []string
	for _, c := range choices {
		name := c.Type() + "@" + c.Version
		if c.found {
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
		before     []Kind
		want       []string
	}{
		{
			"by default the default kinds that there are, and custom resources", "",
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
		{"a served version is kept", "resources: ['*']", []string{widgets}, []Kind{{"example.com", "v1beta1", "widgets", true}}, []string{"planets.example.com@v1?!", "widgets.example.com@v1beta1?"}},
		{"one that is no longer served is not", "resources: ['*', planets.example.com]", []string{widgets}, []Kind{{"example.com", "v1alpha1", "widgets", true}, {"example.com", "v1alpha1", "planets", false}}, []string{"planets.example.com@v1!", "widgets.example.com@v1?"}},
		{"what has vanished", "resources: ['*']", []string{core}, []Kind{{"example.com", "v1", "widgets", true}}, []string{"nodes@v1?!", "pods@v1?"}},
		{"but keeps its version if it is named", "resources: [widgets.example.com]", []string{core}, []Kind{{"example.com", "v1beta1", "widgets", true}}, []string{"widgets.example.com@v1beta1"}},
		{
			"what is only down is kept", "resources: ['*', planets.example.com]", []string{core, "down:example.com/v1"},
			[]Kind{{"example.com", "v1", "widgets", true}, {"example.com", "v7", "planets", false}, {"example.org", "v1", "others", true}},
			[]string{"planets.example.com@v7!", "nodes@v1?!", "pods@v1?", "widgets.example.com@v1?"},
		},
		{
			"but not if the configuration no longer asks for it", "resources: [pods]", []string{core, "down:example.com/v1"},
			[]Kind{{"example.com", "v1", "widgets", true}}, []string{"pods@v1"},
		},
		{
			"the version of a group that is down in part is kept", "resources: ['*']", []string{"example.com/v1/widgets", "down:example.com/v2"},
			[]Kind{{"example.com", "v2", "widgets", true}}, []string{"widgets.example.com@v2?"},
		},
		{"default kinds of a group that is down", "", []string{"v1/pods", "down:apps/v1"}, nil, []string{"pods@v1", "daemonsets.apps@v1", "deployments.apps@v1", "replicasets.apps@v1", "statefulsets.apps@v1"}},
		{"served under two groups", "resources: ['*']", []string{"extensions/v1beta1/ingresses,scales", "networking.k8s.io/v1/ingresses"}, nil, []string{"ingresses.networking.k8s.io@v1?", "scales.extensions@v1beta1?"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config, err := ParseConfig([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]Kind{}
			for _, k := range tc.before {
				before[k.Type()] = k
			}
			if got := write(config.choose(servedBy(t, tc.served...), before)); !slices.Equal(got, tc.want) {
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
		"nothing":                  fakeDiscovery(),
		"nothing but what is down": fakeDiscovery("down:example.com/v1"),
	} {
		if s, err := f.discover(t.Context()); err == nil {
			t.Errorf("%s: %+v instead of an error", name, s)
		}
	}
}
