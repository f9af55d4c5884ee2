package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ID identifies an informer by what it watches. Its fields become the labels informer_type and watch_namespace.
type ID struct {
	// Group is the API group, empty for the core group.
	Group string
	// Resource is the plural name of the resource, such as "pods".
	Resource string
	// Namespace is the only namespace that is watched, empty for all of them and for cluster-scoped resources.
	Namespace string
}

// For returns the ID of an informer of a resource in one namespace, or in metav1.NamespaceAll.
func For(gvr schema.GroupVersionResource, namespace string) ID {
	return ID{Group: gvr.Group, Resource: gvr.Resource, Namespace: namespace}
}

// Type returns the value of the label informer_type: "pods", "deployments.apps".
func (id ID) Type() string {
	return schema.GroupResource{Group: id.Group, Resource: id.Resource}.String()
}

// WatchNamespace returns the value of the label watch_namespace: the namespace, or "*" for all. It is never empty, because
// Prometheus treats an empty label as absent.
func (id ID) WatchNamespace() string {
	if id.Namespace == metav1.NamespaceAll {
		return everything
	}
	return id.Namespace
}

// everything is the label value for all namespaces and for reads of a whole store.
const everything = "*"
