// Package fakeapi is a fake API server for tests that must control what an informer receives and when. The behavior of a
// real API server is tested with a real one: see stacktest.
package fakeapi

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Server is a ListerWatcher that returns the responses of a test.
type Server struct {
	// OnList responds to a list; the default is an empty list of Pods at version 1.
	OnList func(metav1.ListOptions) (runtime.Object, error)
	// OnWatch responds to a watch. If it is nil or returns neither a watch nor an error, the watch is a Stream.
	OnWatch func(metav1.ListOptions) (watch.Interface, error)
	// Streams carries the streams in the order in which they were opened.
	Streams chan *Stream
	// StreamingLists reports whether the client supports streaming lists; client-go's fakes do not.
	StreamingLists bool
}

// NewServer returns a Server. Streams has a buffer of 16.
func NewServer() *Server {
	return &Server{Streams: make(chan *Stream, 16)}
}

// List implements cache.ListerWatcher.
func (s *Server) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (s *Server) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (s *Server) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if s.OnList != nil {
		return s.OnList(options)
	}
	return PodList(1), nil
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (s *Server) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if s.OnWatch != nil {
		if w, err := s.OnWatch(options); w != nil || err != nil {
			return w, err
		}
	}
	stream := &Stream{Options: options, Events: make(chan watch.Event), stopped: make(chan struct{})}
	s.Streams <- stream
	return stream, nil
}

// IsWatchListSemanticsUnSupported implements client-go's check for streaming lists.
func (s *Server) IsWatchListSemanticsUnSupported() bool { return !s.StreamingLists }

// Stream is a watch without a buffer, like client-go's StreamWatcher.
type Stream struct {
	// Options are those of the watch request.
	Options metav1.ListOptions
	// Events are received by the watch. Send and Close suffice for most tests.
	Events chan watch.Event

	stopped chan struct{}
	once    sync.Once
}

// ResultChan implements watch.Interface.
func (s *Stream) ResultChan() <-chan watch.Event { return s.Events }

// Stop implements watch.Interface.
func (s *Stream) Stop() { s.once.Do(func() { close(s.stopped) }) }

// Stopped returns a channel that is closed by Stop.
func (s *Stream) Stopped() <-chan struct{} { return s.stopped }

// Send sends an event and blocks until it is received.
func (s *Stream) Send(t watch.EventType, object runtime.Object) {
	s.Events <- watch.Event{Type: t, Object: object}
}

// Fail sends an error event.
func (s *Stream) Fail(status *metav1.Status) { s.Send(watch.Error, status) }

// Close ends the watch from the server's side.
func (s *Stream) Close() { close(s.Events) }
