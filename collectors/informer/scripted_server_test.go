package informer_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// scriptedServer is what an informer sees of an API server: objects, a log of their changes that watches follow, and
// an oldest version that they can follow from.
type scriptedServer struct {
	streamingLists bool

	mu        sync.Mutex
	version   int
	objects   map[string]*corev1.Pod
	log       []logEntry
	compacted int
	streams   []*scriptedStream
}

type logEntry struct {
	version int
	event   watch.Event
}

func newScriptedServer(streamingLists bool) *scriptedServer {
	return &scriptedServer{streamingLists: streamingLists, version: 100, compacted: 100, objects: map[string]*corev1.Pod{}}
}

// change creates, updates or deletes an object.
func (s *scriptedServer) change(r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 1 + r.IntN(3)
	name := string(rune('a' + r.IntN(6)))
	p := pod(name, s.version)
	event := watch.Event{Type: watch.Modified, Object: p}
	switch {
	case s.objects[name] == nil:
		event.Type = watch.Added
		s.objects[name] = p
	case r.IntN(3) == 0:
		event.Type = watch.Deleted
		delete(s.objects, name)
	default:
		s.objects[name] = p
	}
	s.append(event)
}

func (s *scriptedServer) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.append(watch.Event{Type: watch.Bookmark, Object: bookmark(s.version)})
}

func (s *scriptedServer) append(event watch.Event) {
	s.log = append(s.log, logEntry{s.version, event})
	for _, stream := range s.streams {
		stream.send(event)
	}
}

// cut closes all watches without an error.
func (s *scriptedServer) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.streams {
		stream.end()
	}
	s.streams = nil
}

// expire ends all watches with 410 Gone, and compacts.
func (s *scriptedServer) expire() {
	s.mu.Lock()
	for _, stream := range s.streams {
		status := apierrors.NewResourceExpired("too old").Status()
		stream.send(watch.Event{Type: watch.Error, Object: &status})
	}
	s.mu.Unlock()
	s.cut()
	s.compact()
}

// compact drops the log: clients without a watch must list again.
func (s *scriptedServer) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.compacted = s.version
	s.log = nil
}

func (s *scriptedServer) IsWatchListSemanticsUnSupported() bool { return !s.streamingLists }

func (s *scriptedServer) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

func (s *scriptedServer) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

func (s *scriptedServer) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return podList(s.version, s.sorted()...), nil
}

func (s *scriptedServer) sorted() []*corev1.Pod {
	var list []*corev1.Pod
	for _, p := range s.objects {
		list = append(list, p.DeepCopy())
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int { return int(a.Name[0]) - int(b.Name[0]) })
	return list
}

func (s *scriptedServer) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := newScriptedStream()
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		for _, p := range s.sorted() {
			stream.send(watch.Event{Type: watch.Added, Object: p})
		}
		stream.send(watch.Event{Type: watch.Bookmark, Object: endOfList(s.version)})
	} else {
		from, err := strconv.Atoi(options.ResourceVersion)
		if err != nil || from < s.compacted {
			return nil, apierrors.NewResourceExpired("too old")
		}
		for _, entry := range s.log {
			if entry.version > from {
				stream.send(entry.event)
			}
		}
	}
	s.streams = append(s.streams, stream)
	go stream.run()
	return stream, nil
}

// scriptedStream is a watch with enough buffer for every test.
type scriptedStream struct {
	queue   chan watch.Event
	out     chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func newScriptedStream() *scriptedStream {
	return &scriptedStream{queue: make(chan watch.Event, 1000), out: make(chan watch.Event), stopped: make(chan struct{})}
}

// send hands on a copy: informers keep what they get.
func (s *scriptedStream) send(event watch.Event) {
	s.queue <- watch.Event{Type: event.Type, Object: event.Object.DeepCopyObject()}
}

func (s *scriptedStream) end() { close(s.queue) }

func (s *scriptedStream) run() {
	defer close(s.out)
	for {
		select {
		case event, open := <-s.queue:
			if !open {
				return
			}
			select {
			case s.out <- event:
			case <-s.stopped:
				return
			}
		case <-s.stopped:
			return
		}
	}
}

func (s *scriptedStream) ResultChan() <-chan watch.Event { return s.out }

func (s *scriptedStream) Stop() { s.once.Do(func() { close(s.stopped) }) }
