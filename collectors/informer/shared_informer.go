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
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
)

// NewSharedIndexInformer is a drop-in replacement for cache.NewSharedIndexInformerWithOptions. It decorates the connection
// to the API server, the store, and each handler that is added. The series exist from now until Run returns.
func NewSharedIndexInformer(obs *collectors.Observer, id ID, lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	r := registryOf(obs)
	inf := r.newInformer(id)
	newer := sharedOptions{SharedIndexInformerOptions: options}
	inf.claim.upstream = provideMetrics(inf.shared, &newer.InformerMetricsProvider)
	newer.Indexers = inf.functions.Indexers(newer.Indexers)
	s := inf.decorate(cache.NewSharedIndexInformerWithOptions(inf.decorateConnection(lw), exampleObject, newer.SharedIndexInformerOptions))
	s.resyncs.byDefault, s.resyncs.check = options.ResyncPeriod, options.ResyncPeriod
	r.publish(inf)
	return s
}

// Wrap decorates an existing informer. Call it before the informer is started and before handlers are added. It observes the
// store and the handlers, but not the connection: lists, watches and event lag stay unknown. Run the returned informer instead
// of inner; its series are deleted when Run returns. Prefer NewSharedIndexInformer or a decorated factory.
func Wrap(obs *collectors.Observer, id ID, inner cache.SharedIndexInformer) cache.SharedIndexInformer {
	r := registryOf(obs)
	inf := r.newInformer(id)
	s := inf.decorate(inner)
	r.publish(inf)
	return s
}

func (inf *informer) decorate(inner cache.SharedIndexInformer) *sharedIndexInformer {
	inf.indexer = versionedIndexer(inner.GetIndexer(), inner.LastSyncResourceVersion)
	inf.store = inf.indexer
	inf.connection.StoreSynced = inner.HasSynced
	checker := sync.OnceValue(func() doneChecker { return syncedInformer(inner) })
	return &sharedIndexInformer{
		SharedIndexInformer: inner,
		informer:            inf,
		indexer:             inf.decorateIndexer(inner.GetIndexer(), func() bool { return isDone(checker()) }),
		resyncs:             resyncs{byDefault: unknownPeriod},
		registrations:       map[cache.ResourceEventHandlerRegistration]*handler{},
	}
}

// sharedIndexInformer decorates an informer. It embeds what it decorates, so that it has the methods of any version of client-go.
// TestEveryMethodIsKnown fails when a later version adds a method.
type sharedIndexInformer struct {
	cache.SharedIndexInformer
	informer *informer
	indexer  cache.Indexer
	running  atomic.Bool
	// resyncs computes the resync periods of handlers.
	resyncs resyncs
	// transforms detects Transform functions that replace each other.
	transforms functions.Places

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
	registration, err := s.SharedIndexInformer.AddEventHandlerWithOptions(decorated, options)
	if err != nil {
		s.informer.removeHandler(decorated)
		return registration, err
	}
	decorated.cursor.Registered()
	s.reportSharedTransform()
	if reflect.ValueOf(registration).Comparable() { // otherwise it is not client-go's and cannot be a map key
		s.mu.Lock()
		s.registrations[registration] = decorated
		s.mu.Unlock()
	}
	return registration, nil
}

// RemoveEventHandler implements cache.SharedInformer.
func (s *sharedIndexInformer) RemoveEventHandler(registration cache.ResourceEventHandlerRegistration) error {
	if err := s.SharedIndexInformer.RemoveEventHandler(registration); err != nil {
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
		if n := decorated.waiting(); n > 0 {
			s.informer.metrics.lost.Add(lostStop, float64(n))
		}
		s.informer.removeHandler(decorated)
	}
	return nil
}

// AddIndexers implements cache.SharedIndexInformer.
func (s *sharedIndexInformer) AddIndexers(indexers cache.Indexers) error {
	return s.SharedIndexInformer.AddIndexers(s.informer.functions.Indexers(indexers))
}

// GetStore implements cache.SharedInformer.
func (s *sharedIndexInformer) GetStore() cache.Store { return s.indexer }

// GetIndexer implements cache.SharedIndexInformer.
func (s *sharedIndexInformer) GetIndexer() cache.Indexer { return s.indexer }

// Run implements cache.SharedInformer.
func (s *sharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext implements cache.SharedInformer. The informer's series are deleted when it returns.
func (s *sharedIndexInformer) RunWithContext(ctx context.Context) {
	if !s.running.CompareAndSwap(false, true) {
		s.SharedIndexInformer.RunWithContext(ctx) // client-go warns and returns
		return
	}
	s.informer.run(ctx, s.SharedIndexInformer, syncedInformer(s.SharedIndexInformer))
}

// SetTransform implements cache.SharedInformer. It reports a function that replaces another one, and detects objects that
// the function drops, because they never reach a handler.
func (s *sharedIndexInformer) SetTransform(f cache.TransformFunc) error {
	var decorated cache.TransformFunc
	if f != nil {
		decorated = s.informer.functions.Transform(f)
	}
	if err := s.SharedIndexInformer.SetTransform(decorated); err != nil {
		return err
	}
	s.informer.functions.SetTransforms(f != nil)
	if first := s.transforms.Replace(f != nil, functions.Caller()); first != "" {
		s.informer.metrics.conflicts.Add(1)
		s.informer.shared.Logger.Warn("transform of a shared informer was replaced for all its users",
			"informer_type", s.informer.id.Type(), "watch_namespace", s.informer.id.WatchNamespace(),
			"first", first, "second", functions.Caller())
	}
	s.reportSharedTransform()
	return nil
}

// reportSharedTransform logs once that a Transform affects several handlers.
func (s *sharedIndexInformer) reportSharedTransform() {
	handlers := s.informer.currentHandlers()
	setAt := s.transforms.SharedBy(len(handlers))
	if setAt == "" {
		return
	}
	var names []string
	for _, h := range handlers {
		names = append(names, h.handlerMetrics.name)
	}
	s.informer.shared.Logger.Info("transform of a shared informer changes objects for several handlers",
		"informer_type", s.informer.id.Type(), "watch_namespace", s.informer.id.WatchNamespace(), "set_at", setAt, "handlers", names)
}
