// Package clientgo observes a controller that is built on plain client-go, with one import. Its functions are those of the packages
// below collectors with default options, and can be combined with them.
//
//	var obs = clientgo.New(clientgo.Options{Name: "my-controller"})
//
//	config = clientgo.WrapConfig(obs, config)
//	factory := clientgo.NewSharedInformerFactory(obs, client, resync)
//	queue := clientgo.NewTypedRateLimitingQueue(obs, "pods", limiter)
//	c.sync = clientgo.NewSyncHandler(obs, "pods", c.syncHandler)
//
// New and InformerFor panic instead of returning an error, as in client_golang's promauto: their errors are mistakes in the program,
// which show in its first run. To handle errors, use collectors.New and informer.InformerFor.
package clientgo

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// Options are the options of New. Only Name is required.
type Options = collectors.Options

// DefaultChecks returns a value for Options.Checks: see collectors.DefaultChecks.
func DefaultChecks() collectors.Checks { return collectors.DefaultChecks() }

// New returns an Observer and registers it with prometheus.DefaultRegisterer, which promhttp.Handler serves and which has
// client_golang's process collector. It panics if an option is invalid, or if the registerer already has an Observer of that name. For
// another registerer, use collectors.New.
func New(options Options) *collectors.Observer {
	obs, err := collectors.New(prometheus.DefaultRegisterer, options) //nolint:forbidigo // the program decides that by calling New, as with promauto
	if err != nil {
		panic(err)
	}
	return obs
}

// WrapConfig returns a copy of config with clients that report their requests: see apiclient.WrapConfig. It also registers
// apiclient.NewMetrics with client-go, so that waits for client-go's default rate limiter are reported. client-go accepts one
// registration per process, the first: a program with its own must call metrics.Register before WrapConfig, or use
// apiclient.WrapConfig.
func WrapConfig(obs *collectors.Observer, config *rest.Config) *rest.Config {
	metrics.Register(apiclient.NewMetrics(obs))
	return apiclient.WrapConfig(obs, config, apiclient.Options{})
}

// NewSharedInformerFactory replaces informers.NewSharedInformerFactory of client-go: see informer.NewSharedInformerFactory.
func NewSharedInformerFactory(obs *collectors.Observer, client kubernetes.Interface, defaultResync time.Duration) informers.SharedInformerFactory {
	return informer.NewSharedInformerFactory(obs, client, defaultResync, informer.FactoryOptions{})
}

// InformerFor decorates an informer of another clientset's factory, which watches all namespaces: see informer.InformerFor. resource is
// the name of the resource with its version and group, such as "widgets.v1.example.com". It panics if the name has another
// form, or if the factory already has an informer of the type.
func InformerFor[C any, F ~func(C, time.Duration) cache.SharedIndexInformer, L runtime.Object](
	obs *collectors.Observer, factory informer.GeneratedFactory[C, F], resource string, objects informer.GeneratedClient[L],
) cache.SharedIndexInformer {
	gvr, _ := schema.ParseResourceArg(resource)
	if gvr == nil {
		panic("clientgo: " + resource + " is not the name of a resource with version and group, such as widgets.v1.example.com")
	}
	inf, err := informer.InformerFor(obs, factory, *gvr, objects, informer.GeneratedOptions{})
	if err != nil {
		panic(err)
	}
	return inf
}

// NewTypedRateLimitingQueue replaces the function of this name in client-go's package workqueue: see
// queue.NewTypedRateLimitingQueue. name is the label controller of the queue's metrics, and the label name of client-go's
// workqueue_*.
func NewTypedRateLimitingQueue[T comparable](obs *collectors.Observer, name string, limiter workqueue.TypedRateLimiter[T]) *queue.Queue[T] {
	return queue.NewTypedRateLimitingQueue(obs, name, limiter, queue.Options[T]{})
}

// NewSyncHandler decorates the sync function of a controller, which its workers then call: see controllers.NewSyncHandler.
func NewSyncHandler[T any](obs *collectors.Observer, name string, sync func(context.Context, T) error) func(context.Context, T) error {
	return controllers.NewSyncHandler(obs, name, sync, controllers.Options{})
}
