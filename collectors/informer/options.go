package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// FactoryOptions are the options of client-go's factories as values: client-go's own are functions that cannot be read. The zero
// value watches all namespaces, without selectors and without a Transform.
type FactoryOptions struct {
	// Namespace limits the factory to one namespace. The default is all namespaces.
	Namespace string
	// TweakListOptions changes the options of each list and watch, for example to set a selector. The default is none.
	TweakListOptions func(*metav1.ListOptions)
	// Transform runs on each object before it is stored. The default is none.
	Transform cache.TransformFunc
	// CustomResync are resync periods by type, such as &corev1.Pod{}. Only NewSharedInformerFactory uses it. The default is
	// the factory's period.
	CustomResync map[metav1.Object]time.Duration
	// InformerName is a *cache.InformerName that identifies the factory's informers in client-go's own metrics: see
	// collectors.Options.UpstreamMetrics. Shutdown of the factory releases it. The default is none.
	InformerName InformerName
}

// GeneratedOptions are the options of InformerFor. They repeat those of the factory, which it does not expose. The zero value watches
// all namespaces without selectors.
type GeneratedOptions struct {
	// Namespace is the namespace of the factory. The default is all namespaces.
	Namespace string
	// TweakListOptions is that of the factory. The default is none.
	TweakListOptions func(*metav1.ListOptions)
}

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
