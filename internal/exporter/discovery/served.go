package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// served lists the resources that the API server serves and that can be listed and watched, by Type.
type served struct {
	kinds map[string]servedKind
	// failed are the groups for which discovery failed, for example because an aggregated API server is down. errs are the reasons.
	failed map[string]bool
	errs   map[schema.GroupVersion]error
}

type servedKind struct {
	namespaced bool
	versions   []string        // the preferred version first
	statuses   map[string]bool // whether the subresource status is served, by version
}

// discoverFunc returns the results of discovery.ServerGroupsAndResources.
type discoverFunc func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)

// discover lists the resources that the API server serves. It returns an error if there is no response or no resource that can be watched.
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
				delete(byVersion, gv) // the preferred version is listed twice
				s.add(list)
			}
		}
	}
	if len(s.kinds) == 0 {
		return nil, errors.Join(errors.New("the API server serves no resource that can be watched"), err)
	}
	return s, nil
}

// maxResources is the maximum number of resources of one version of a group: otherwise, an aggregated API server could cause any
// number of informers. Kubernetes and CustomResourceDefinitions have at most some dozens.
const maxResources = 500

// add adds the resources of one version of a group, without subresources and resources that cannot be watched. If there are too many,
// discovery of the group has failed.
func (s *served) add(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return // not a valid path
	}
	watchable := discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}
	// An aggregated API server may list any name. A dot could make it a resource of another group, and a slash another path.
	resources := slices.DeleteFunc(slices.Clone(list.APIResources), func(r metav1.APIResource) bool {
		return len(validation.IsDNS1123Label(r.Name)) > 0 || !watchable.Match(list.GroupVersion, &r)
	})
	if len(resources) > maxResources {
		if s.errs == nil {
			s.errs = map[schema.GroupVersion]error{}
		}
		s.failed[gv.Group], s.errs[gv] = true, fmt.Errorf("%d resources, more than %d", len(resources), maxResources)
		return
	}
	status := map[string]bool{}
	for _, r := range list.APIResources {
		if of, ok := strings.CutSuffix(r.Name, "/status"); ok {
			status[of] = true
		}
	}
	for _, r := range resources {
		name := schema.GroupResource{Group: gv.Group, Resource: r.Name}.String()
		kind := s.kinds[name]
		kind.namespaced = kind.namespaced || r.Namespaced
		kind.versions = append(kind.versions, gv.Version)
		if kind.statuses == nil {
			kind.statuses = map[string]bool{}
		}
		kind.statuses[gv.Version] = status[r.Name]
		s.kinds[name] = kind
	}
}

// hasStatus reports whether the subresource status of a kind is served, and whether that is known.
func (s *served) hasStatus(k kinds.Kind) (has, known bool) {
	if s == nil {
		return false, false
	}
	has, known = s.kinds[k.Type()].statuses[k.Version]
	return has, known
}

func (s *served) has(name string) bool {
	_, ok := s.kinds[name]
	return ok
}

// names returns the names of served resources, and of resources in before with a group that failed, sorted.
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

// kind returns the kind with a name. It keeps before.Version while that is served, or while its discovery fails. alias reports
// whether the objects are also served as another kind.
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

// aliases maps the second name of resources that are served under two groups (DefaultAPIResourceConfigSource and the cohabitating
// resources of the API server's storage) to the name that is watched.
var aliases = map[string]string{
	"events.events.k8s.io":           "events",
	"daemonsets.extensions":          "daemonsets.apps",
	"deployments.extensions":         "deployments.apps",
	"replicasets.extensions":         "replicasets.apps",
	"ingresses.extensions":           "ingresses.networking.k8s.io",
	"networkpolicies.extensions":     "networkpolicies.networking.k8s.io",
	"podsecuritypolicies.extensions": "podsecuritypolicies.policy",
}
