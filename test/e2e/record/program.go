package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
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
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// programOptions configure a program with the library.
type programOptions struct {
	// namespace and resource are what it watches: ConfigMaps in busy, unless they are given.
	namespace string
	resource  schema.GroupVersionResource
	// lists makes it use LIST, not streaming lists.
	lists     bool
	checks    collectors.Checks
	transform cache.TransformFunc
	// unfiltered makes it list and watch all namespaces while the fault is active.
	unfiltered bool
	// readsEarly makes it read the cache before it starts the informer, if the fault is active.
	readsEarly bool
	// handler is an additional handler. By default there is only one, which does nothing.
	handler cache.ResourceEventHandler
}

// program is a program with the library: one decorated informer in this process, with its own registry.
type program struct {
	config  *rest.Config
	options programOptions
	target  *target

	mu       sync.Mutex
	registry *prometheus.Registry // nil while it does not run
	observer *collectors.Observer
	informer cache.SharedIndexInformer
	cancel   context.CancelFunc
	ended    chan struct{}

	// strikes is set while the program's fault is active.
	strikes atomic.Bool
}

// startProgram starts a program that connects to the API server with a configuration. o gets the program, so that the
// functions in its options can check whether the fault is active.
func (l *lab) startProgram(config *rest.Config, o func(*program) programOptions) (*program, *target, error) {
	p := &program{config: config}
	p.options = o(p)
	if p.options.namespace == "" {
		p.options.namespace = busy
	}
	if p.options.resource.Empty() {
		p.options.resource = configMaps
	}
	p.target = &target{
		job: "program", instance: "program:8080", read: p.read,
		start: func(context.Context) error { return p.start() },
		stop:  func(context.Context) error { p.stop(); return nil },
	}
	l.onStop(p.target.stop)
	return p, p.target, p.start()
}

func (p *program) start() error {
	registry := prometheus.NewRegistry()
	started := prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_start_time_seconds", Help: "Start of the program, which shares a process with others."})
	started.SetToCurrentTime()
	registry.MustRegister(started)
	observer, err := collectors.New(registry, collectors.Options{
		Name: "program", Checks: p.options.checks, Logger: slog.New(slog.DiscardHandler),
		RememberedEvents: 4096, // more than the events while a handler is blocked
	})
	if err != nil {
		return err
	}
	lw, example, err := p.source()
	if err != nil {
		return err
	}
	inf := informer.NewSharedIndexInformer(observer, informer.For(p.options.resource, p.options.namespace), lw, example, cache.SharedIndexInformerOptions{})
	if p.options.transform != nil {
		if err := inf.SetTransform(p.options.transform); err != nil {
			return err
		}
	}
	handlers := map[string]cache.ResourceEventHandler{"main": cache.ResourceEventHandlerFuncs{}}
	if p.options.handler != nil {
		handlers["faulty"] = p.options.handler
	}
	for name, handler := range handlers {
		if _, err := inf.AddEventHandler(informer.NamedHandler(name, handler)); err != nil {
			return err
		}
	}
	if p.options.readsEarly && p.strikes.Load() {
		inf.GetIndexer().List()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); inf.RunWithContext(ctx) }()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.registry, p.observer, p.informer, p.cancel, p.ended = registry, observer, inf, cancel, ended
	return nil
}

func (p *program) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registry == nil {
		return
	}
	p.cancel()
	<-p.ended
	p.registry = nil
}

func (p *program) read(context.Context) ([]byte, error) {
	p.mu.Lock()
	registry := p.registry
	p.mu.Unlock()
	if registry == nil {
		return nil, errors.New("the program does not run")
	}
	families, err := registry.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// requested returns the namespace of lists and watches of ConfigMaps.
func (p *program) requested() string {
	if p.options.unfiltered && p.strikes.Load() {
		return metav1.NamespaceAll
	}
	return p.options.namespace
}

// source returns the ListerWatcher of the program's objects, and an example object.
func (p *program) source() (cache.ListerWatcher, runtime.Object, error) {
	if p.options.resource != configMaps {
		client, err := dynamic.NewForConfig(p.config)
		if err != nil {
			return nil, nil, err
		}
		objects := client.Resource(p.options.resource).Namespace(p.options.namespace)
		return &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return objects.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return objects.Watch(ctx, o)
			},
		}, &unstructured.Unstructured{}, nil
	}
	client, err := kubernetes.NewForConfig(p.config)
	if err != nil {
		return nil, nil, err
	}
	return capable{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().ConfigMaps(p.requested()).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().ConfigMaps(p.requested()).Watch(ctx, o)
		},
	}, p.options.lists}, &corev1.ConfigMap{}, nil
}

// capable reports whether a ListWatch supports streaming lists.
type capable struct {
	*cache.ListWatch
	noStreamingLists bool
}

func (c capable) IsWatchListSemanticsUnSupported() bool { return c.noStreamingLists }
