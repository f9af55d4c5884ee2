package informer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A decorated object must have exactly those optional interfaces of client-go that the plain one has.

func TestListerWatcherKeepsItsCapabilities(t *testing.T) {
	obs, _ := observertest.New(t)
	type key struct{}
	var got []any
	plain := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			got = append(got, ctx.Value(key{}))
			return fakeapi.PodList(1), nil
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			got = append(got, ctx.Value(key{}))
			return watch.NewFake(), nil
		},
	}
	decorated := cache.ToListerWatcherWithContext(informer.NewListerWatcher(obs, pods, plain))
	ctx := context.WithValue(context.Background(), key{}, "caller's")
	if _, err := decorated.ListWithContext(ctx, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := decorated.WatchWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	if !slices.Equal(got, []any{"caller's", "caller's"}) {
		t.Errorf("the contexts are not the caller's: %v", got)
	}
	for _, streams := range []bool{true, false} {
		lw := informer.NewListerWatcher(obs, pods, &fakeapi.Server{StreamingLists: streams})
		if watchlist.DoesClientNotSupportWatchListSemantics(lw) == streams {
			t.Errorf("streaming lists are %t, and hidden", streams)
		}
	}
}

func TestWatchIsForwardedUnchanged(t *testing.T) {
	obs, _ := observertest.New(t)
	server := fakeapi.NewServer()
	w, _ := informer.NewListerWatcher(obs, pods, server).Watch(metav1.ListOptions{})
	stream := <-server.Streams
	sent := []watch.Event{
		{Type: watch.Added, Object: fakeapi.Pod("a", 2)},
		{Type: watch.Bookmark, Object: fakeapi.Bookmark(3)},
		{Type: "UNKNOWN", Object: fakeapi.Pod("b", 4)},
		{Type: watch.Error, Object: &metav1.Status{Code: 500}},
	}
	go func() {
		for _, e := range sent {
			stream.Events <- e
		}
		stream.Close()
	}()
	for _, want := range sent {
		if got := <-w.ResultChan(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if e, open := <-w.ResultChan(); open {
		t.Errorf("after the end came %+v", e)
	}
	w.Stop()
	select {
	case <-stream.Stopped():
	default:
		t.Error("Stop was not forwarded")
	}
}

func TestIndexerKeepsItsCapabilities(t *testing.T) {
	obs, _ := observertest.New(t)
	plain := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	decorated := func(inner cache.Indexer) cache.Indexer {
		return informer.Wrap(obs, pods, informerWithStore{indexer: inner}).GetIndexer()
	}
	if _, ok := plain.(cache.TransactionStore); !ok {
		t.Fatal("client-go's indexer no longer has transactions")
	}
	transactional, ok := decorated(plain).(cache.TransactionStore)
	if !ok {
		t.Fatal("transactions are hidden")
	}
	if err := transactional.Transaction(cache.Transaction{Object: fakeapi.Pod("a", 1), Type: cache.TransactionTypeAdd}); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := plain.GetByKey("default/a"); !found {
		t.Error("the transaction did not reach the store")
	}
	if _, ok := decorated(struct{ cache.Indexer }{plain}).(cache.TransactionStore); ok {
		t.Error("transactions are claimed for a store without them")
	}
}

// spy records which methods of an informer are called.
type spy struct {
	cache.SharedIndexInformer
	calls []string
}

func (s *spy) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	period := "default"
	if o.ResyncPeriod != nil {
		period = o.ResyncPeriod.String()
	}
	s.calls = append(s.calls, "AddEventHandlerWithOptions "+period)
	return s.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
}

func (s *spy) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	s.calls = append(s.calls, "SetWatchErrorHandler")
	return s.SharedIndexInformer.SetWatchErrorHandler(h)
}

func (s *spy) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	s.calls = append(s.calls, "SetWatchErrorHandlerWithContext")
	return s.SharedIndexInformer.SetWatchErrorHandlerWithContext(h)
}

func (s *spy) SetTransform(f cache.TransformFunc) error {
	s.calls = append(s.calls, "SetTransform nil:"+map[bool]string{true: "yes", false: "no"}[f == nil])
	return s.SharedIndexInformer.SetTransform(f)
}

func (s *spy) AddIndexers(i cache.Indexers) error {
	s.calls = append(s.calls, "AddIndexers")
	return s.SharedIndexInformer.AddIndexers(i)
}

func TestInformerPassesEveryCallOn(t *testing.T) {
	obs, _ := observertest.New(t)
	plain := cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})
	s := &spy{SharedIndexInformer: plain}
	inf := informer.Wrap(obs, pods, s)
	registration, err := inf.AddEventHandler(slow)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inf.AddEventHandlerWithResyncPeriod(slow, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}),
		inf.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}),
		inf.SetTransform(nil),
		inf.SetTransform(func(obj any) (any, error) { return obj, nil }), //nolint:informerlint // the test calls each setter
		inf.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"AddEventHandlerWithOptions default", "AddEventHandlerWithOptions 1m0s", "SetWatchErrorHandler",
		"SetWatchErrorHandlerWithContext", "SetTransform nil:yes", "SetTransform nil:no", "AddIndexers",
	}
	if !slices.Equal(s.calls, want) {
		t.Errorf("calls: %v", s.calls)
	}
	// The registration is client-go's own, so that functions that assert its type accept it.
	if err := plain.RemoveEventHandler(registration); err != nil {
		t.Errorf("the registration was wrapped: %v", err)
	}
	if inf.HasSynced() || inf.IsStopped() || inf.LastSyncResourceVersion() != "" {
		t.Error("the state is not that of an informer that has not been started")
	}
}

// informerWithStore is an informer with the given store.
type informerWithStore struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

func (i informerWithStore) GetStore() cache.Store { return i.indexer }

func (i informerWithStore) GetIndexer() cache.Indexer { return i.indexer }

func (i informerWithStore) HasSynced() bool { return false }
