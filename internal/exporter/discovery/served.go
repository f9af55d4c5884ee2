package discovery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// served is what the API server has told that it serves and that can be listed and watched, by Type.
type served struct {
	kinds map[string]servedKind
	// failed are the groups of which it could not tell everything, with the reasons: an aggregated API server that is down,
	// for example.
	failed map[string]bool
	errs   map[schema.GroupVersion]error
}

type servedKind struct {
	namespaced bool
	versions   []string // the preferred one first
}

// discoverFunc asks the API server what it serves, as discovery.ServerGroupsAndResources does.
type discoverFunc func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)

// discover asks the API server what it serves. It fails if there is no answer at all.
func (f discoverFunc) discover(ctx context.Context) (*served, error) {
	groups, lists, err := f(ctx)
	s := &served{kinds: map[string]servedKind{}, failed: map[string]bool{}}
	s.errs, _ = discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && len(s.errs) == 0 {
		return nil, err
	}
	for gv := range s.errs {
		s.failed[gv.Group] = true
	}
	byVersion := map[string]*metav1.APIResourceList{}
	for _, list := range lists {
		byVersion[list.GroupVersion] = list
	}
	for _, group := range groups {
		versions := []string{group.PreferredVersion.GroupVersion}
		for _, v := range group.Versions {
			versions = append(versions, v.GroupVersion)
		}
		for _, gv := range versions {
			if list := byVersion[gv]; list != nil {
				delete(byVersion, gv) // the preferred one comes twice
				s.add(list)
			}
		}
	}
	if len(s.kinds) == 0 {
		return nil, errors.Join(errors.New("the API server has told of nothing that can be watched"), err)
	}
	return s, nil
}

// add takes in the resources of one version of a group. Subresources and what cannot be watched are left out.
func (s *served) add(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return // no such path can be asked for
	}
	watchable := discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") || !watchable.Match(list.GroupVersion, &r) {
			continue
		}
		name := schema.GroupResource{Group: gv.Group, Resource: r.Name}.String()
		kind := s.kinds[name]
		kind.namespaced = kind.namespaced || r.Namespaced
		kind.versions = append(kind.versions, gv.Version)
		s.kinds[name] = kind
	}
}

func (s *served) has(name string) bool {
	_, ok := s.kinds[name]
	return ok
}

// names returns the names of what is served, and of what was watched before and is in a group that the API server could
// not tell about, sorted.
func (s *served) names(before map[string]kinds.Kind) []string {
	names := slices.Collect(maps.Keys(s.kinds))
	for name, kind := range before {
		if !s.has(name) && s.failed[kind.Group] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// kind returns a kind of names. It keeps the version of before if that is still served, or if the API server could not
// tell. alias tells that its objects are those of another kind, which is served too.
func (s *served) kind(name string, before kinds.Kind) (kind kinds.Kind, alias bool) {
	served, ok := s.kinds[name]
	if !ok {
		return before, false
	}
	gr := schema.ParseGroupResource(name)
	kind = kinds.Kind{Group: gr.Group, Version: served.versions[0], Resource: gr.Resource, Namespaced: served.namespaced}
	if slices.Contains(served.versions, before.Version) || s.errs[before.GVR().GroupVersion()] != nil {
		kind.Version = before.Version
	}
	original, ok := aliases[name]
	return kind, ok && s.has(original)
}

// aliases are kinds that are served under two groups, as the API server has them (DefaultAPIResourceConfigSource and
// the cohabitating resources of its storage), with the group that stays.
var aliases = map[string]string{
	"events.events.k8s.io":           "events",
	"daemonsets.extensions":          "daemonsets.apps",
	"deployments.extensions":         "deployments.apps",
	"replicasets.extensions":         "replicasets.apps",
	"ingresses.extensions":           "ingresses.networking.k8s.io",
	"networkpolicies.extensions":     "networkpolicies.networking.k8s.io",
	"podsecuritypolicies.extensions": "podsecuritypolicies.policy",
}
