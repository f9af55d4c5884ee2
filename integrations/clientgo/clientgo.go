// Package clientgo observes a controller that is built on plain client-go, with one import. Its functions are those of the packages
// below collectors with default options, and can be combined with them.
//
//	var obs = clientgo.New("my-controller")
//
//	config = clientgo.WrapConfig(obs, config)
//	factory := clientgo.NewSharedInformerFactory(obs, client, resync)
//	queue := clientgo.NewTypedRateLimitingQueue(obs, "pods", limiter)
//	err := clientgo.Sync(ctx, obs, "pods", key, c.syncHandler)
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

// New returns an Observer and registers it with prometheus.DefaultRegisterer, which promhttp.Handler serves and which has
// client_golang's process collector. name is the value of the label name: the program. The functions, such as WithChecks, change the other
// options. New panics if an option is invalid, or if the registerer already has an Observer of that name.
// For another registerer, use collectors.New.
func New(name string, options ...func(*collectors.Options)) *collectors.Observer {
	o := collectors.Options{Name: name}
	for _, change := range options {
		change(&o)
	}
	obs, err := collectors.New(prometheus.DefaultRegisterer, o) //nolint:forbidigo // the program decides that by calling New, as with promauto
	if err != nil {
		panic(err)
	}
	return obs
}

// WithChecks is an option for New that turns on the checks of collectors.DefaultChecks, which compare caches with the API server. They
// are off by default, because they cost requests.
func WithChecks(o *collectors.Options) { o.Checks = collectors.DefaultChecks() }

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

// Sync calls the sync function of a controller and reports the call as a reconcile: see controllers.Sync.
func Sync[T any](ctx context.Context, obs *collectors.Observer, name string, item T, sync func(context.Context, T) error) error {
	return controllers.Sync(ctx, obs, name, item, sync)
}
