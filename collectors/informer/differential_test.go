package informer_test

import (
	"context"
	"fmt"
	"math/rand" //nolint:depguard // client-go's backoff uses it; it must be the same in both runs
	randv2 "math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestDecoratedInformersCallHandlersAsPlainOnes runs the same sequence on a plain and on a decorated informer: objects are
// created, changed and deleted; watches end; versions expire; lists are repeated; handlers are added late, are slow, panic,
// resync, and are removed while busy or idle. Each handler must be called with the same objects, in the same order and at
// the same time.
func TestDecoratedInformersCallHandlersAsPlainOnes(t *testing.T) {
	t.Setenv("GODEBUG", "randseednop=0")
	surviveHandlers(t)
	klog.SetLogger(logr.Discard())
	t.Cleanup(klog.ClearLogger)
	stories, calls := 200, 0
	if testing.Short() {
		stories = 20
	}
	for seed := range uint64(stories) {
		plain, decorated := play(t, seed, false), play(t, seed, true)
		if len(plain) != len(decorated) {
			t.Fatalf("seed %d: %d handlers, decorated %d", seed, len(plain), len(decorated))
		}
		for i, want := range plain {
			got := decorated[i]
			if at := firstDifference(got, want); at >= 0 {
				t.Fatalf("seed %d, handler %d, call %d of %d:\n got %q\nwant %q", seed, i, at, len(want), window(got, at), window(want, at))
			}
			calls += len(want)
		}
	}
	if calls < 100*stories {
		t.Errorf("only %d calls in %d stories: not much was compared", calls, stories)
	}
}

// surviveHandlers makes client-go survive handlers that panic, without its default panic and error handlers, which log and
// limit the rate of errors by the clock of the process.
func surviveHandlers(t *testing.T) {
	onError, onPanic, crash := utilruntime.ErrorHandlers, utilruntime.PanicHandlers, utilruntime.ReallyCrash
	utilruntime.ErrorHandlers, utilruntime.PanicHandlers, utilruntime.ReallyCrash = nil, nil, false
	t.Cleanup(func() {
		utilruntime.ErrorHandlers, utilruntime.PanicHandlers, utilruntime.ReallyCrash = onError, onPanic, crash
	})
}

func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func window(calls []string, at int) []string {
	return calls[min(max(at-2, 0), len(calls)):min(at+3, len(calls))]
}

// play runs the scenario of a seed and returns the calls of each handler, followed by the final state as another list.
func play(t *testing.T, seed uint64, decorated bool) (calls [][]string) {
	synctest.Test(t, func(t *testing.T) {
		rand.Seed(int64(seed)) //nolint:staticcheck // SA1019: the deprecation does not apply here
		s := newStory(t, seed, decorated)
		for range 40 {
			time.Sleep(40 * time.Second) // every handler has time to finish
			synctest.Wait()
			s.step()
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		final := []string{fmt.Sprint("synced ", s.controller.HasSynced()), "version " + s.controller.LastSyncResourceVersion()}
		for _, key := range slices.Sorted(slices.Values(s.store.ListKeys())) {
			obj, _, _ := s.store.GetByKey(key)
			final = append(final, key+"@"+rv.Of(obj))
		}
		s.stop()
		for _, r := range s.recorders {
			calls = append(calls, r.inOrder())
		}
		calls = append(calls, final)
	})
	return calls
}

// story is a scenario: an informer, its server and its handlers. About a third of the informers have a single handler.
type story struct {
	*testing.T
	rand   *randv2.Rand
	server *simulator
	// informer is nil for one with a single handler.
	informer   cache.SharedIndexInformer
	controller cache.Controller
	store      cache.Store
	began      time.Time
	recorders  []*callRecorder
	active     []*callRecorder
	// panics makes the single handler panic.
	panics atomic.Bool
	stop   func()
}

func newStory(t *testing.T, seed uint64, decorated bool) *story {
	r := randv2.New(randv2.NewPCG(seed, 1))
	s := &story{T: t, rand: r, server: newSimulator(r.IntN(2) == 0), began: time.Now()}
	resync := []time.Duration{0, time.Minute, 150 * time.Second}[r.IntN(3)]
	var transform cache.TransformFunc
	if r.IntN(3) == 0 {
		transform = labelAndDrop
	}
	obs, _ := observertest.New(t)
	var run func(context.Context)
	if r.IntN(3) == 0 {
		run = s.withOneHandler(obs, decorated, cache.InformerOptions{
			ListerWatcher: s.server, ObjectType: &corev1.Pod{}, ResyncPeriod: resync, Transform: transform,
		})
	} else {
		run = s.shared(obs, decorated, transform, cache.SharedIndexInformerOptions{ResyncPeriod: resync})
	}
	for range r.IntN(4) {
		s.server.Change(s.rand)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); run(ctx) }()
	s.stop = func() { cancel(); <-done }
	return s
}

func (s *story) shared(obs *collectors.Observer, decorated bool, transform cache.TransformFunc, options cache.SharedIndexInformerOptions) (run func(context.Context)) {
	if decorated {
		s.informer = informer.NewSharedIndexInformer(obs, pods, s.server, &corev1.Pod{}, options)
	} else {
		s.informer = cache.NewSharedIndexInformerWithOptions(s.server, &corev1.Pod{}, options)
	}
	if err := s.informer.SetTransform(transform); err != nil {
		s.Fatal(err)
	}
	s.controller, s.store = s.informer.GetController(), s.informer.GetStore()
	for range s.rand.IntN(3) {
		s.addHandler()
	}
	return s.informer.RunWithContext
}

func (s *story) withOneHandler(obs *collectors.Observer, decorated bool, options cache.InformerOptions) (run func(context.Context)) {
	r := &callRecorder{began: s.began}
	switch s.rand.IntN(3) {
	case 0:
		options.Indexers = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	case 1: // without resyncs: see addHandler
		options.ResyncPeriod = 0
		if delay := time.Duration(1+s.rand.IntN(900)) * time.Millisecond; !locked {
			r.delay = delay
		}
	case 2: // only if objects arrive one by one: with a batch or a resync, the lost objects would be random
		options.ResyncPeriod = 0
		r.panics = func(string) bool { return s.panics.Load() }
	}
	s.recorders, options.Handler = []*callRecorder{r}, r
	if decorated {
		s.store, s.controller = informer.NewInformerWithOptions(obs, pods, options)
	} else {
		s.store, s.controller = cache.NewInformerWithOptions(options)
	}
	return s.controller.RunWithContext
}

// labelAndDrop is a Transform that drops objects named c.
func labelAndDrop(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	if p.Name == "c" {
		return nil, errTest
	}
	p.Labels = map[string]string{"transformed": "yes"}
	return p, nil
}

func (s *story) step() {
	step := s.rand.IntN(13)
	if s.informer == nil && step >= 3 && step <= 6 {
		step = 9
	}
	switch step {
	default:
		s.burst()
	case 0:
		s.server.Cut()
	case 1: // changes are missed and no longer available
		s.server.Cut()
		s.burst()
		s.server.Compact()
	case 2:
		s.server.Expire()
	case 3, 4:
		s.addHandler()
	case 5:
		s.removeHandler(false)
	case 6: // while it is busy, if it is slow
		s.burst()
		time.Sleep(100 * time.Millisecond)
		s.removeHandler(true)
	case 7:
		time.Sleep(time.Duration(s.rand.IntN(300)) * time.Second)
	case 8:
		s.server.Bookmark()
	case 9:
		s.panics.Store(true)
		s.server.Change(s.rand)
		time.Sleep(time.Second)
		s.panics.Store(false)
	}
}

// burst changes some objects, at different times.
func (s *story) burst() {
	for range 1 + s.rand.IntN(6) {
		s.server.Change(s.rand)
		time.Sleep(3 * time.Millisecond)
	}
}

func (s *story) addHandler() {
	r := &callRecorder{began: s.began}
	var err error
	switch s.rand.IntN(7) {
	case 0:
		r.registration, err = s.informer.AddEventHandler(r)
	case 1:
		r.registration, err = s.informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: r.OnAdd, UpdateFunc: r.OnUpdate, DeleteFunc: r.OnDelete,
		}, 100*time.Second)
	case 2:
		r.registration, err = s.informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool { return len(rv.Of(obj))%2 == 0 }, Handler: r,
		})
	case 3:
		r.registration, err = s.informer.AddEventHandlerWithOptions(informer.NamedHandler("named", r), cache.HandlerOptions{})
	case 4: // only without resyncs: their order is random, so random ones would be pending when the handler is removed
		r.delay = time.Duration(1+s.rand.IntN(900)) * time.Millisecond
		r.registration, err = s.informer.AddEventHandlerWithResyncPeriod(r, 0)
	case 5:
		r.registration, err = addTypedRecorder(s.informer, r)
	case 6:
		r.panics = func(version string) bool { return strings.HasSuffix(version, "1") || strings.HasSuffix(version, "4") }
		r.registration, err = s.informer.AddEventHandlerWithResyncPeriod(r, 0)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.recorders, s.active = append(s.recorders, r), append(s.active, r)
}

func (s *story) removeHandler(busy bool) {
	if len(s.active) == 0 {
		return
	}
	at := s.rand.IntN(len(s.active))
	if busy && s.active[at].panics != nil {
		return // after a panic, it waits for a second, and whether its last object panics depends on the order of a map
	}
	if err := s.informer.RemoveEventHandler(s.active[at].registration); err != nil {
		s.Fatal(err)
	}
	s.active = slices.Delete(s.active, at, at+1)
}
