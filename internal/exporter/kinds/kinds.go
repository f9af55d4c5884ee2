// Package kinds lists the kinds that the exporter knows by name and matches kinds against patterns.
package kinds

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Kind is a resource that the exporter can watch.
type Kind struct {
	// Group is the API group. It is empty for the core group.
	Group string
	// Version is the API version.
	Version string
	// Resource is the lower-case plural.
	Resource string
	// Namespaced reports whether the objects live in namespaces.
	Namespaced bool
}

// Type returns the value of the label informer_type: "pods", "deployments.apps".
func (k Kind) Type() string {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}.String()
}

// GVR returns the resource with its group and version.
func (k Kind) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

// Default returns the kinds that are watched without a configuration file. The manifests in deploy grant exactly these. The
// caller owns the slice.
func Default() []Kind { return slices.Clone(defaultKinds) }

const (
	namespaced    = true
	clusterScoped = false
)

var defaultKinds = []Kind{
	{"", "v1", "configmaps", namespaced},
	{"", "v1", "namespaces", clusterScoped},
	{"", "v1", "nodes", clusterScoped},
	{"", "v1", "persistentvolumeclaims", namespaced},
	{"", "v1", "persistentvolumes", clusterScoped},
	{"", "v1", "pods", namespaced},
	{"", "v1", "resourcequotas", namespaced},
	{"", "v1", "serviceaccounts", namespaced},
	{"", "v1", "services", namespaced},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", clusterScoped},
	{"apps", "v1", "daemonsets", namespaced},
	{"apps", "v1", "deployments", namespaced},
	{"apps", "v1", "replicasets", namespaced},
	{"apps", "v1", "statefulsets", namespaced},
	{"autoscaling", "v2", "horizontalpodautoscalers", namespaced},
	{"batch", "v1", "cronjobs", namespaced},
	{"batch", "v1", "jobs", namespaced},
	// Every node renews its Lease every ten seconds, which is most of the traffic of a quiet cluster.
	{"coordination.k8s.io", "v1", "leases", namespaced},
	{"discovery.k8s.io", "v1", "endpointslices", namespaced},
	{"networking.k8s.io", "v1", "ingresses", namespaced},
	{"networking.k8s.io", "v1", "networkpolicies", namespaced},
	{"policy", "v1", "poddisruptionbudgets", namespaced},
	{"storage.k8s.io", "v1", "storageclasses", clusterScoped},
}

// optionalKinds are known by name, but only watched if the configuration selects them.
var optionalKinds = []Kind{
	// Only metadata is requested, but names and labels of Secrets are sensitive too, and RBAC cannot grant metadata without
	// contents.
	{"", "v1", "secrets", namespaced},
	// Events are created and expire by the thousand. They would dominate the cache, the traffic and the metrics.
	{"", "v1", "events", namespaced},
	{"events.k8s.io", "v1", "events", namespaced},
	{"", "v1", "endpoints", namespaced}, // superseded by EndpointSlices
	{"", "v1", "limitranges", namespaced},
	{"", "v1", "replicationcontrollers", namespaced},
	{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", clusterScoped},
	{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", clusterScoped},
	{"apps", "v1", "controllerrevisions", namespaced},
	{"networking.k8s.io", "v1", "ingressclasses", clusterScoped},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", clusterScoped},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", clusterScoped},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", namespaced},
	{"rbac.authorization.k8s.io", "v1", "roles", namespaced},
	{"scheduling.k8s.io", "v1", "priorityclasses", clusterScoped},
	{"storage.k8s.io", "v1", "volumeattachments", clusterScoped},
}

// Known returns the kind with the given Type, or false if it is not known by name.
func Known(name string) (Kind, bool) {
	for _, k := range All() {
		if k.Type() == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Leases is the Type of Leases.
const Leases = "leases.coordination.k8s.io"

// IsPattern reports whether a name is a pattern.
func IsPattern(name string) bool { return strings.Contains(name, "*") }

// Matches reports whether a name matches one of the patterns.
func Matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // patterns are validated
		return ok
	})
}

// IsCustom reports whether a group is not part of Kubernetes: that of a CustomResourceDefinition or of an aggregated API
// server.
func IsCustom(group string) bool {
	return !scheme.Scheme.IsGroupRegistered(group) && !slices.Contains([]string{"apiextensions.k8s.io", "apiregistration.k8s.io"}, group)
}

// MustBeNamed reports whether a kind is only watched if the configuration names it. See optionalKinds for the reasons.
func MustBeNamed(name string) bool {
	return slices.Contains([]string{"secrets", "events", "events.events.k8s.io"}, name)
}

// Namespaces is the kind of namespaces.
var Namespaces = Kind{Version: "v1", Resource: "namespaces"}

// DefinesKinds reports whether the objects of a kind define other kinds.
func DefinesKinds(k Kind) bool {
	return k.Type() == "customresourcedefinitions.apiextensions.k8s.io" || k.Type() == "apiservices.apiregistration.k8s.io"
}

// All returns every kind that is known by name. The caller owns the slice.
func All() []Kind { return slices.Concat(defaultKinds, optionalKinds) }
