package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Options are the options of client-go's factories as values: client-go's own are functions that cannot be read. The zero
// value watches all namespaces, without selectors and without a Transform.
type Options struct {
	// Namespace limits the factory to one namespace. The default is all namespaces.
	Namespace string
	// TweakListOptions changes the options of each list and watch, for example to set a selector. The default is none.
	TweakListOptions func(*metav1.ListOptions)
	// Transform runs on each object before it is stored. InformerFor ignores it: the factory sets its own. The default is
	// none.
	Transform cache.TransformFunc
	// CustomResync are resync periods by type, such as &corev1.Pod{}. Only NewSharedInformerFactory uses it. The default is
	// the factory's period.
	CustomResync map[metav1.Object]time.Duration
	// InformerName is a *cache.InformerName that identifies the factory's informers in client-go's own metrics: see
	// collectors.Options.UpstreamMetrics.
	// Shutdown of a factory releases it. InformerFor ignores it: the factory has its own. The default is none.
	InformerName InformerName
}
