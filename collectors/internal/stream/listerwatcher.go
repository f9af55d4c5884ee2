package stream

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// ListerWatcher is a decorated cache.ListerWatcher. It passes on every call, context and capability, and records lists,
// watches, their events, ends and errors in its Connection.
type ListerWatcher struct {
	inner       cache.ListerWatcherWithContext
	unsupported bool
	connection  *Connection
}

var (
	_ cache.ListerWatcher            = &ListerWatcher{}
	_ cache.ListerWatcherWithContext = &ListerWatcher{}
)

// Decorate returns lw, observed by the Connection.
func (c *Connection) Decorate(lw cache.ListerWatcher) *ListerWatcher {
	return &ListerWatcher{
		inner:       cache.ToListerWatcherWithContext(lw),
		unsupported: watchlist.DoesClientNotSupportWatchListSemantics(lw),
		connection:  c,
	}
}

// Inner returns the ListerWatcher without its decorator.
func (l *ListerWatcher) Inner() cache.ListerWatcherWithContext { return l.inner }

// IsWatchListSemanticsUnSupported forwards the result of the decorated client to client-go's package watchlist, which
// would otherwise request from fake clients a stream that they do not support. The spelling is client-go's.
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
		// client-go's consistency detector and audits list at a known version; their result does not go into the cache.
		return l.inner.ListWithContext(ctx, options)
	}
	l.connection.beginList(options.Continue == "")
	page, err := l.inner.ListWithContext(ctx, options)
	if err != nil {
		l.connection.listError(ctx, err, options)
		return page, err
	}
	l.connection.pageReceived(page, options)
	return page, nil
}

// Watch implements cache.Watcher.
func (l *ListerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *ListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	streamsList := options.SendInitialEvents != nil && *options.SendInitialEvents
	if streamsList {
		l.connection.beginList(true)
	}
	l.connection.requested.Store(true)
	requested := l.connection.clock.Now()
	inner, err := l.inner.WatchWithContext(ctx, options)
	if err != nil {
		if streamsList {
			l.connection.listError(ctx, err, options)
		} else {
			l.connection.watchRefused(ctx, err)
		}
		return inner, err
	}
	return newWatchProxy(ctx, l.connection, inner, options, requested), nil
}
