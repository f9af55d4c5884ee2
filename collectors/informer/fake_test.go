package informer_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

// fakeServer answers lists and watches with what a test prepares. It replaces the API server in tests of pure logic;
// the behavior of a real one is tested with a real one.
type fakeServer struct {
	// list answers a LIST; the default is an empty list at version 1.
	list func(metav1.ListOptions) (runtime.Object, error)
	// openWatch answers a watch; the default is a stream that the test gets from next.
	openWatch func(metav1.ListOptions) (watch.Interface, error)
	// streams carries the watches that were opened.
	streams chan *fakeStream
	// streamingLists is false for a client that, like client-go's fakes, has none.
	streamingLists bool
}

func newFakeServer() *fakeServer {
	return &fakeServer{streams: make(chan *fakeStream, 16)}
}

func (s *fakeServer) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

func (s *fakeServer) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

func (s *fakeServer) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if s.list != nil {
		return s.list(options)
	}
	return podList(1), nil
}

func (s *fakeServer) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if s.openWatch != nil {
		if w, err := s.openWatch(options); w != nil || err != nil {
			return w, err
		}
	}
	stream := &fakeStream{events: make(chan watch.Event), stopped: make(chan struct{}), options: options}
	s.streams <- stream
	return stream, nil
}

func (s *fakeServer) IsWatchListSemanticsUnSupported() bool { return !s.streamingLists }

// fakeStream is a watch without a buffer, like client-go's StreamWatcher.
type fakeStream struct {
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
	options metav1.ListOptions
}

func (s *fakeStream) ResultChan() <-chan watch.Event { return s.events }

func (s *fakeStream) Stop() { s.once.Do(func() { close(s.stopped) }) }

func (s *fakeStream) send(t watch.EventType, object runtime.Object) {
	s.events <- watch.Event{Type: t, Object: object}
}

func (s *fakeStream) fail(status *metav1.Status) { s.send(watch.Error, status) }

func (s *fakeStream) close() { close(s.events) }

func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: "uid", ResourceVersion: strconv.Itoa(version),
	}}
}

func podList(version int, pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

func bookmark(version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(version)}}
}

// endOfList is the bookmark that ends the initial events of a streaming list.
func endOfList(version int) *corev1.Pod {
	p := bookmark(version)
	p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return p
}

var pods = informer.ID{Resource: "pods"}

// start runs an informer until the test ends or the returned function is called, which waits for the end.
func start(t testing.TB, inf cache.SharedInformer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

var errTest = errors.New("test")
