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

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// simulator is a ListerWatcher that behaves like an API server with up to six Pods: it has objects, a log of changes that
// watches follow, and an oldest version from which a watch can start.
type simulator struct {
	streamingLists bool

	mu        sync.Mutex
	version   int
	objects   map[string]*corev1.Pod
	log       []logEntry
	compacted int
	streams   []*simulatedStream
}

type logEntry struct {
	version int
	event   watch.Event
}

// newSimulator returns a simulator without objects.
func newSimulator(streamingLists bool) *simulator {
	return &simulator{streamingLists: streamingLists, version: 100, compacted: 100, objects: map[string]*corev1.Pod{}}
}

// Change creates, updates or deletes an object.
func (s *simulator) Change(r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 1 + r.IntN(3)
	name := string(rune('a' + r.IntN(6)))
	p := fakeapi.Pod(name, s.version)
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

// Version returns the version of the last change.
func (s *simulator) Version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Bookmark sends a bookmark to all watches.
func (s *simulator) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.append(watch.Event{Type: watch.Bookmark, Object: fakeapi.Bookmark(s.version)})
}

func (s *simulator) append(event watch.Event) {
	s.log = append(s.log, logEntry{s.version, event})
	for _, stream := range s.streams {
		stream.send(event)
	}
}

// Cut closes all watches without an error.
func (s *simulator) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.streams {
		stream.end()
	}
	s.streams = nil
}

// Expire ends all watches with 410 Gone and compacts the log.
func (s *simulator) Expire() {
	s.mu.Lock()
	for _, stream := range s.streams {
		status := apierrors.NewResourceExpired("too old").Status()
		stream.send(watch.Event{Type: watch.Error, Object: &status})
	}
	s.mu.Unlock()
	s.Cut()
	s.Compact()
}

// Compact empties the log: a watch from an earlier version fails with 410 Gone.
func (s *simulator) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.compacted = s.version
	s.log = nil
}

// IsWatchListSemanticsUnSupported implements client-go's check for streaming lists.
func (s *simulator) IsWatchListSemanticsUnSupported() bool { return !s.streamingLists }

// List implements cache.ListerWatcher.
func (s *simulator) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (s *simulator) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (s *simulator) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fakeapi.PodList(s.version, s.sorted()...), nil
}

func (s *simulator) sorted() []*corev1.Pod {
	var list []*corev1.Pod
	for _, p := range s.objects {
		list = append(list, p.DeepCopy())
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int { return int(a.Name[0]) - int(b.Name[0]) })
	return list
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (s *simulator) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := newSimulatedStream()
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		for _, p := range s.sorted() {
			stream.send(watch.Event{Type: watch.Added, Object: p})
		}
		stream.send(watch.Event{Type: watch.Bookmark, Object: fakeapi.EndOfList(s.version)})
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

// simulatedStream is a watch with a buffer, so that the simulator never blocks.
type simulatedStream struct {
	queue   chan watch.Event
	out     chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func newSimulatedStream() *simulatedStream {
	return &simulatedStream{queue: make(chan watch.Event, 1000), out: make(chan watch.Event), stopped: make(chan struct{})}
}

// send sends a copy, because informers keep what they receive.
func (s *simulatedStream) send(event watch.Event) {
	s.queue <- watch.Event{Type: event.Type, Object: event.Object.DeepCopyObject()}
}

func (s *simulatedStream) end() { close(s.queue) }

func (s *simulatedStream) run() {
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

func (s *simulatedStream) ResultChan() <-chan watch.Event { return s.out }

func (s *simulatedStream) Stop() { s.once.Do(func() { close(s.stopped) }) }
