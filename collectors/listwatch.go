package collectors

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// ListerWatcher is a decorated cache.ListerWatcher. It passes every call, context and capability on, and counts lists,
// watches, their events, ends and errors.
type ListerWatcher struct {
	inner       cache.ListerWatcherWithContext
	unsupported bool
	informer    *informer
}

var (
	_ cache.ListerWatcher            = &ListerWatcher{}
	_ cache.ListerWatcherWithContext = &ListerWatcher{}
)

// ListerWatcher decorates what a bare Reflector reads from. It observes the connection to the API server, but neither a
// store nor handlers; NewSharedIndexInformer decorates them all. Call Close when the Reflector has ended.
func (o *Observer) ListerWatcher(id ID, lw cache.ListerWatcher) *ListerWatcher {
	inf := o.newInformer(id)
	decorated := inf.listerWatcher(lw)
	o.publish(inf)
	return decorated
}

func (inf *informer) listerWatcher(lw cache.ListerWatcher) *ListerWatcher {
	inf.listed = true
	inf.lister = cache.ToListerWatcherWithContext(lw)
	return &ListerWatcher{
		inner:       inf.lister,
		unsupported: watchlist.DoesClientNotSupportWatchListSemantics(lw),
		informer:    inf,
	}
}

// Close deletes the series of a ListerWatcher that was decorated by itself. It may be called more than once. An
// informer that was decorated as a whole does it when its Run returns.
func (l *ListerWatcher) Close() {
	l.informer.end()
}

// IsWatchListSemanticsUnSupported forwards the answer of the decorated client to client-go's package watchlist, which
// would otherwise ask fake clients for a stream that they cannot give. The spelling is client-go's.
func (l *ListerWatcher) IsWatchListSemanticsUnSupported() bool {
	return l.unsupported
}

// List implements cache.Lister.
func (l *ListerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (l *ListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		// client-go's consistency detector and our audit look at a known version; the cache does not get it.
		return l.inner.ListWithContext(ctx, options)
	}
	src := &l.informer.source
	src.beginList(options.Continue == "")
	page, err := l.inner.ListWithContext(ctx, options)
	if err != nil {
		src.listError(ctx, err, options)
		return page, err
	}
	src.listPage(page, options)
	return page, nil
}

// Watch implements cache.Watcher.
func (l *ListerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *ListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	src := &l.informer.source
	streamsList := options.SendInitialEvents != nil && *options.SendInitialEvents
	if streamsList {
		src.beginList(true)
	}
	src.requested.Store(true)
	requested := l.informer.obs.now()
	inner, err := l.inner.WatchWithContext(ctx, options)
	if err != nil {
		if streamsList {
			src.listError(ctx, err, options)
		} else {
			src.watchError(ctx, err)
		}
		return inner, err
	}
	return newWatchProxy(ctx, l.informer, inner, options, requested), nil
}

// emptyWatch is what client-go's REST client returns, without an error, for a connection that broke while the watch was
// being requested. No watch was open.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())
