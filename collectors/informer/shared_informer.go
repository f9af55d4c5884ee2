package informer

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewSharedIndexInformer is a drop-in for cache.NewSharedIndexInformerWithOptions. It decorates the connection to the API
// server, the store, and each handler that is added. The series exist from now until Run returns.
func NewSharedIndexInformer(obs *collectors.Observer, id ID, lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	r := registryOf(obs)
	inf := r.newInformer(id)
	options.InformerMetricsProvider, inf.upstream = r.metricsProvider(options.InformerMetricsProvider)
	s := inf.decorate(cache.NewSharedIndexInformerWithOptions(inf.decorateConnection(lw), exampleObject, options))
	s.resyncs.byDefault, s.resyncs.check = options.ResyncPeriod, options.ResyncPeriod
	r.publish(inf)
	return s
}

// Wrap decorates an existing informer, before it is started and handlers are added. It observes the store and the
// handlers, but not the connection: lists, watches and event lag stay unknown. Prefer NewSharedIndexInformer or a
// decorated factory.
func Wrap(obs *collectors.Observer, id ID, inner cache.SharedIndexInformer) cache.SharedIndexInformer {
	r := registryOf(obs)
	inf := r.newInformer(id)
	s := inf.decorate(inner)
	r.publish(inf)
	return s
}

func (inf *informer) decorate(inner cache.SharedIndexInformer) *sharedIndexInformer {
	inf.store = inner.GetStore()
	inf.indexer = inner.GetIndexer()
	inf.connection.StoreSynced = inner.HasSynced
	return &sharedIndexInformer{
		inner:         inner,
		informer:      inf,
		indexer:       inf.metrics.decorateIndexer(inf.indexer),
		resyncs:       resyncs{byDefault: unknownPeriod},
		registrations: map[cache.ResourceEventHandlerRegistration]*handler{},
	}
}

// sharedIndexInformer decorates an informer. It does not embed what it decorates, so that a method that a later client-go
// adds breaks the build instead of bypassing the decorator.
type sharedIndexInformer struct {
	inner    cache.SharedIndexInformer
	informer *informer
	indexer  cache.Indexer
	running  atomic.Bool
	// resyncs computes the resync periods of handlers.
	resyncs resyncs
	// transforms detects Transform functions that replace each other.
	transforms transforms

	mu            sync.Mutex
	registrations map[cache.ResourceEventHandlerRegistration]*handler
}

var _ cache.SharedIndexInformer = &sharedIndexInformer{}

// AddEventHandler implements cache.SharedInformer.
func (s *sharedIndexInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer.
func (s *sharedIndexInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions implements cache.SharedInformer. It returns client-go's own registration, so that
// client-go's functions accept it.
func (s *sharedIndexInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	decorated := s.informer.decorateHandler(h)
	decorated.resyncPeriod = s.resyncs.period(options.ResyncPeriod, s.running.Load())
	s.informer.addHandler(decorated)
	registration, err := s.inner.AddEventHandlerWithOptions(decorated, options)
	if err != nil {
		s.informer.removeHandler(decorated)
		return registration, err
	}
	decorated.cursor.Registered()
	if reflect.ValueOf(registration).Comparable() { // otherwise it is not client-go's and cannot be a map key
		s.mu.Lock()
		s.registrations[registration] = decorated
		s.mu.Unlock()
	}
	return registration, nil
}

// RemoveEventHandler implements cache.SharedInformer.
func (s *sharedIndexInformer) RemoveEventHandler(registration cache.ResourceEventHandlerRegistration) error {
	if err := s.inner.RemoveEventHandler(registration); err != nil {
		return err
	}
	if !reflect.ValueOf(registration).Comparable() {
		return nil
	}
	s.mu.Lock()
	decorated := s.registrations[registration]
	delete(s.registrations, registration)
	s.mu.Unlock()
	if decorated != nil {
		s.informer.metrics.lost[lostStop].Add(float64(decorated.waiting()))
		s.informer.removeHandler(decorated)
	}
	return nil
}

// GetStore implements cache.SharedInformer.
func (s *sharedIndexInformer) GetStore() cache.Store { return s.indexer }

// GetIndexer implements cache.SharedIndexInformer.
func (s *sharedIndexInformer) GetIndexer() cache.Indexer { return s.indexer }

// GetController implements cache.SharedInformer.
func (s *sharedIndexInformer) GetController() cache.Controller { return s.inner.GetController() }

// Run implements cache.SharedInformer.
func (s *sharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext implements cache.SharedInformer. The informer's series are deleted when it returns.
func (s *sharedIndexInformer) RunWithContext(ctx context.Context) {
	if !s.running.CompareAndSwap(false, true) {
		s.inner.RunWithContext(ctx) // client-go warns and returns
		return
	}
	s.informer.run(ctx, s.inner)
}

// HasSynced implements cache.SharedInformer.
func (s *sharedIndexInformer) HasSynced() bool { return s.inner.HasSynced() }

// HasSyncedChecker implements cache.SharedInformer.
func (s *sharedIndexInformer) HasSyncedChecker() cache.DoneChecker { return s.inner.HasSyncedChecker() }

// LastSyncResourceVersion implements cache.SharedInformer.
func (s *sharedIndexInformer) LastSyncResourceVersion() string {
	return s.inner.LastSyncResourceVersion()
}

// SetWatchErrorHandler implements cache.SharedInformer.
func (s *sharedIndexInformer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	return s.inner.SetWatchErrorHandler(h)
}

// SetWatchErrorHandlerWithContext implements cache.SharedInformer.
func (s *sharedIndexInformer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return s.inner.SetWatchErrorHandlerWithContext(h)
}

// SetTransform implements cache.SharedInformer. It reports a function that replaces another one, and detects objects that
// the function drops, because they never reach a handler.
func (s *sharedIndexInformer) SetTransform(f cache.TransformFunc) error {
	var decorated cache.TransformFunc
	if f != nil {
		decorated = decorateTransform(s.informer.metrics, s.informer.connection, f)
	}
	if err := s.inner.SetTransform(decorated); err != nil {
		return err
	}
	if first := s.transforms.replace(f != nil, caller()); first != "" {
		s.informer.metrics.conflicts.Inc()
		s.informer.shared.Logger.Warn("transform of a shared informer was replaced for all its users",
			"informer_type", s.informer.id.Type(), "watch_namespace", s.informer.id.WatchNamespace(),
			"first", first, "second", caller())
	}
	return nil
}

// AddIndexers implements cache.SharedIndexInformer.
func (s *sharedIndexInformer) AddIndexers(indexers cache.Indexers) error {
	return s.inner.AddIndexers(indexers)
}

// IsStopped implements cache.SharedInformer.
func (s *sharedIndexInformer) IsStopped() bool { return s.inner.IsStopped() }
