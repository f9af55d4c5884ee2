package faults

import (
	"context"
	"net"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// options of a rig.
type options struct {
	// server is the administrator's configuration of the API server. Defaults to the shared one.
	server *rest.Config
	// namespace of the watched ConfigMaps. Defaults to a new one.
	namespace string
	// lists makes the informer use LIST and then watch, as without streaming lists.
	lists bool
	// unfiltered makes the informer request all namespaces, although it is for one; only objects with its label are received.
	unfiltered bool
	// user is impersonated by the informer's client.
	user string
	// resync is the informer's resync period.
	resync time.Duration
	// checks are those of the Observer.
	checks collectors.Checks
	// above wraps the decorated ListerWatcher. Store and handlers are then not decorated.
	above func(cache.ListerWatcherWithContext) cache.ListerWatcherWithContext
}

// rig is a decorated informer with its environment.
type rig struct {
	*testing.T
	registry *prometheus.Registry
	observer *collectors.Observer
	informer cache.SharedIndexInformer
	handlers []string
	stop     func()

	// The informer of newRig has a gate and a proxy between itself and the API server. client is the administrator's, which
	// bypasses both.
	client    kubernetes.Interface
	namespace string
	gate      *gate
	proxy     *faultproxy.Proxy
}

// newRig returns a decorated informer of the ConfigMaps in a namespace.
func newRig(t *testing.T, o options) *rig {
	t.Helper()
	if o.server == nil {
		o.server = stacktest.Config(t)
	}
	r := newBareRig(t, o.checks)
	r.client = kubernetes.NewForConfigOrDie(o.server)
	if r.namespace = o.namespace; r.namespace == "" {
		r.namespace = stacktest.NamespaceIn(t, o.server)
	}
	lw := configMaps(kubernetes.NewForConfigOrDie(r.through(o)), r.namespace)
	if o.unfiltered {
		lw = labeled(configMaps(kubernetes.NewForConfigOrDie(r.through(o)), metav1.NamespaceAll), r.namespace)
	}
	lw.noStreamingLists = o.lists
	id := informer.For(corev1.SchemeGroupVersion.WithResource("configmaps"), r.namespace)
	informerOptions := cache.SharedIndexInformerOptions{ResyncPeriod: o.resync}
	if o.above == nil {
		r.informer = informer.NewSharedIndexInformer(r.observer, id, lw, &corev1.ConfigMap{}, informerOptions)
		return r
	}
	decorated := informer.NewListerWatcher(r.observer, id, lw)
	t.Cleanup(decorated.Close)
	above := capable{ListerWatcherWithContext: o.above(decorated), noStreamingLists: o.lists}
	r.informer = cache.NewSharedIndexInformerWithOptions(above, &corev1.ConfigMap{}, informerOptions)
	return r
}

// newDynamicRig returns a decorated informer of any resource, for servers and kinds without a typed client.
func newDynamicRig(t *testing.T, server *rest.Config, gvr schema.GroupVersionResource) *rig {
	t.Helper()
	r := newBareRig(t, collectors.Checks{})
	client := dynamic.NewForConfigOrDie(server).Resource(gvr)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, o)
		},
	}
	r.informer = informer.NewSharedIndexInformer(r.observer, informer.For(gvr, metav1.NamespaceAll), lw, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	return r
}

// newBareRig returns a rig without an informer.
func newBareRig(t *testing.T, checks collectors.Checks) *rig {
	t.Helper()
	r := &rig{T: t, registry: prometheus.NewPedanticRegistry(), gate: &gate{}, stop: func() {}}
	var err error
	if r.observer, err = collectors.New(r.registry, collectors.Options{Name: "test", Checks: checks}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// through returns the configuration of the informer's client, which connects through the gate and the proxy.
func (r *rig) through(o options) *rest.Config {
	r.Helper()
	host, err := url.Parse(o.server.Host)
	if err != nil {
		r.Fatal(err)
	}
	if r.proxy, err = faultproxy.Start(host.Host); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		r.stop()
		if err := r.proxy.Close(); err != nil {
			r.Error(err)
		}
	})
	config := r.proxy.RESTConfig(o.server)
	config.Dial = (&net.Dialer{}).DialContext    // for separate connections: client-go shares those of equal configurations
	config.ContentType = runtime.ContentTypeJSON // which the gate can write
	config.Impersonate.UserName = o.user
	config.UserAgent = r.remember()
	config.Wrap(r.gate.wrap)
	return config
}

// restore ends the faults of the proxy.
func (r *rig) restore() {
	r.Helper()
	if err := r.proxy.Restore(); err != nil {
		r.Fatal(err)
	}
}

// configMaps lists and watches the ConfigMaps in a namespace.
func configMaps(client kubernetes.Interface, namespace string) capable {
	return capable{ListerWatcherWithContext: &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().ConfigMaps(namespace).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().ConfigMaps(namespace).Watch(ctx, o)
		},
	}}
}

// capable reports whether a ListerWatcher supports streaming lists.
type capable struct {
	cache.ListerWatcherWithContext
	noStreamingLists bool
}

func (c capable) IsWatchListSemanticsUnSupported() bool { return c.noStreamingLists }

func (c capable) List(o metav1.ListOptions) (runtime.Object, error) {
	return c.ListWithContext(context.Background(), o)
}

func (c capable) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return c.WatchWithContext(context.Background(), o)
}

// handle adds a handler under a name, with the resync period of the informer or another.
func (r *rig) handle(name string, h cache.ResourceEventHandler, period ...time.Duration) cache.ResourceEventHandlerRegistration {
	r.Helper()
	var o cache.HandlerOptions
	if len(period) > 0 {
		o.ResyncPeriod = &period[0]
	}
	registration, err := r.informer.AddEventHandlerWithOptions(informer.NamedHandler(name, h), o)
	if err != nil {
		r.Fatal(err)
	}
	r.handlers = append(r.handlers, name)
	return registration
}

// remove removes a handler.
func (r *rig) remove(name string, registration cache.ResourceEventHandlerRegistration) {
	r.Helper()
	if err := r.informer.RemoveEventHandler(registration); err != nil {
		r.Error(err)
	}
	r.handlers = slices.DeleteFunc(r.handlers, func(known string) bool { return known == name })
}

// transform sets the informer's Transform.
func (r *rig) transform(f cache.TransformFunc) {
	r.Helper()
	if err := r.informer.SetTransform(f); err != nil {
		r.Fatal(err)
	}
}

// start runs the informer until the end of the test or stop.
func (r *rig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.informer.RunWithContext(ctx) }()
	r.stop = func() { cancel(); <-done }
}
