package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// ListerWatcher is a decorated cache.ListerWatcher. It forwards every call, context and capability, and counts lists,
// watches, their events, ends and errors. It is safe for concurrent use if the decorated ListerWatcher is.
type ListerWatcher struct {
	decorated *stream.ListerWatcher
	informer  *informer
}

var (
	_ cache.ListerWatcher            = &ListerWatcher{}
	_ cache.ListerWatcherWithContext = &ListerWatcher{}
)

// NewListerWatcher decorates the ListerWatcher of a bare Reflector. It observes the connection to the API server, but neither
// a store nor handlers; NewSharedIndexInformer decorates all three. Call Close when the Reflector has ended.
func NewListerWatcher(obs *collectors.Observer, id ID, lw cache.ListerWatcher) *ListerWatcher {
	r := registryOf(obs)
	inf := r.newInformer(id)
	l := &ListerWatcher{decorated: inf.decorateConnection(lw), informer: inf}
	inf.claim.closed = inf
	r.publish(inf)
	return l
}

// Close deletes the series. It may be called more than once.
func (l *ListerWatcher) Close() { l.informer.end() }

// IsWatchListSemanticsUnSupported forwards the result of the decorated ListerWatcher to client-go's package watchlist. The spelling
// is client-go's.
func (l *ListerWatcher) IsWatchListSemanticsUnSupported() bool {
	return l.decorated.IsWatchListSemanticsUnSupported()
}

// List implements cache.Lister.
func (l *ListerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.decorated.List(options)
}

// ListWithContext implements cache.ListerWithContext.
func (l *ListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return l.decorated.ListWithContext(ctx, options)
}

// Watch implements cache.Watcher.
func (l *ListerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.decorated.Watch(options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *ListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return l.decorated.WatchWithContext(ctx, options)
}
