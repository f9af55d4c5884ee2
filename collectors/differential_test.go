package collectors

import (
	"cmp"
	"context"
	"fmt"
	"math/rand" //nolint:depguard // what client-go takes its back-off from; it must be the same in both runs
	randv2 "math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// TestDecoratedInformersCallHandlersAsPlainOnes plays the same story to a plain and to a decorated informer: objects
// come, change and go, watches end, versions expire, lists are read again, handlers come late, are slow, resync and
// leave, busy or not. Each handler must be called in the same order with the same objects, at the same time.
func TestDecoratedInformersCallHandlersAsPlainOnes(t *testing.T) {
	t.Setenv("GODEBUG", "randseednop=0")
	// The default ones log, and keep a minimum of time between errors, by the clock of the process.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	klog.SetLogger(logr.Discard())
	t.Cleanup(klog.ClearLogger)
	stories, calls := 200, 0
	if testing.Short() {
		stories = 20
	}
	for seed := range uint64(stories) {
		plain, decorated := tell(t, seed, false), tell(t, seed, true)
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

// tell plays the story of a seed and returns the calls of each handler, followed by the final state as if it were one.
func tell(t *testing.T, seed uint64, decorated bool) (calls [][]string) {
	synctest.Test(t, func(t *testing.T) {
		rand.Seed(int64(seed)) //nolint:staticcheck // SA1019: it is not for us
		s := newStory(t, seed, decorated)
		for range 40 {
			time.Sleep(40 * time.Second) // every handler has the time to finish
			synctest.Wait()
			s.step()
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		final := []string{fmt.Sprint("synced ", s.informer.HasSynced()), "version " + s.informer.LastSyncResourceVersion()}
		for _, key := range slices.Sorted(slices.Values(s.informer.GetStore().ListKeys())) {
			obj, _, _ := s.informer.GetStore().GetByKey(key)
			final = append(final, key+"@"+resourceVersion(obj))
		}
		s.stop()
		for _, r := range s.witnesses {
			calls = append(calls, r.inOrder())
		}
		calls = append(calls, final)
	})
	return calls
}

// story is an informer, its server and its handlers.
type story struct {
	*testing.T
	rand      *randv2.Rand
	server    *scriptedServer
	informer  cache.SharedIndexInformer
	began     time.Time
	witnesses []*witness
	active    []*witness
	stop      func()
}

func newStory(t *testing.T, seed uint64, decorated bool) *story {
	r := randv2.New(randv2.NewPCG(seed, 1))
	s := &story{T: t, rand: r, server: newScriptedServer(r.IntN(2) == 0), began: time.Now()}
	options := cache.SharedIndexInformerOptions{ResyncPeriod: []time.Duration{0, time.Minute, 150 * time.Second}[r.IntN(3)]}
	if decorated {
		obs, _ := newObserver(t)
		s.informer = obs.NewSharedIndexInformer(pods, s.server, &corev1.Pod{}, options)
	} else {
		s.informer = cache.NewSharedIndexInformerWithOptions(s.server, &corev1.Pod{}, options)
	}
	if r.IntN(3) == 0 {
		if err := s.informer.SetTransform(labelAndDrop); err != nil {
			t.Fatal(err)
		}
	}
	for range r.IntN(3) {
		s.addHandler()
	}
	for range r.IntN(4) {
		s.server.change(s.rand)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.informer.RunWithContext(ctx) }()
	s.stop = func() { cancel(); <-done }
	return s
}

// labelAndDrop is a Transform that has no use for objects called c.
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
	switch s.rand.IntN(12) {
	default:
		s.burst()
	case 0:
		s.server.cut()
	case 1: // changes are missed, and cannot be had any more
		s.server.cut()
		s.burst()
		s.server.compact()
	case 2:
		s.server.expire()
	case 3, 4:
		s.addHandler()
	case 5:
		s.removeHandler()
	case 6: // while it is busy, if it is slow
		s.burst()
		time.Sleep(100 * time.Millisecond)
		s.removeHandler()
	case 7:
		time.Sleep(time.Duration(s.rand.IntN(300)) * time.Second)
	case 8:
		s.server.bookmark()
	}
}

// burst changes some objects, at different times.
func (s *story) burst() {
	for range 1 + s.rand.IntN(6) {
		s.server.change(s.rand)
		time.Sleep(3 * time.Millisecond)
	}
}

func (s *story) addHandler() {
	r := &witness{began: s.began}
	var err error
	switch s.rand.IntN(5) {
	case 0:
		r.registration, err = s.informer.AddEventHandler(r)
	case 1:
		r.registration, err = s.informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: r.OnAdd, UpdateFunc: r.OnUpdate, DeleteFunc: r.OnDelete,
		}, 100*time.Second)
	case 2:
		r.registration, err = s.informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool { return len(resourceVersion(obj))%2 == 0 }, Handler: r,
		})
	case 3:
		r.registration, err = s.informer.AddEventHandlerWithOptions(NamedHandler("named", r), cache.HandlerOptions{})
	case 4: // without resyncs, whose order is random: so would be which are left when it is removed
		r.delay = time.Duration(1+s.rand.IntN(900)) * time.Millisecond
		r.registration, err = s.informer.AddEventHandlerWithResyncPeriod(r, 0)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.witnesses, s.active = append(s.witnesses, r), append(s.active, r)
}

func (s *story) removeHandler() {
	if len(s.active) == 0 {
		return
	}
	at := s.rand.IntN(len(s.active))
	if err := s.informer.RemoveEventHandler(s.active[at].registration); err != nil {
		s.Fatal(err)
	}
	s.active = slices.Delete(s.active, at, at+1)
}

// witness is a handler that writes down how it is called.
type witness struct {
	began        time.Time
	delay        time.Duration
	registration cache.ResourceEventHandlerRegistration

	mu    sync.Mutex
	calls []witnessedCall
}

type witnessedCall struct {
	at        time.Duration
	key, what string
}

func (r *witness) record(obj any, format string, args ...any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		key = err.Error()
	}
	r.mu.Lock()
	r.calls = append(r.calls, witnessedCall{time.Since(r.began), key, fmt.Sprintf(format, args...)})
	r.mu.Unlock()
	time.Sleep(r.delay)
}

func (r *witness) OnAdd(obj any, isInInitialList bool) {
	r.record(obj, "add %s initial=%t %v", resourceVersion(obj), isInInitialList, obj.(*corev1.Pod).Labels)
}

func (r *witness) OnUpdate(oldObj, newObj any) {
	r.record(newObj, "update %s -> %s same=%t", resourceVersion(oldObj), resourceVersion(newObj), oldObj == newObj)
}

func (r *witness) OnDelete(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.record(obj, "delete unknown %s", resourceVersion(unknown.Obj))
		return
	}
	r.record(obj, "delete %s", resourceVersion(obj))
}

// inOrder returns the calls in the order in which they came, except that objects that come at the same time, out of a
// map of client-go, are ordered by name. A slow handler gets those one after the other.
func (r *witness) inOrder() []string {
	slices.SortStableFunc(r.calls, func(a, b witnessedCall) int {
		if r.delay > 0 {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key))
	})
	var list []string
	for _, c := range r.calls {
		if r.delay > 0 {
			list = append(list, c.key+" "+c.what)
		} else {
			list = append(list, fmt.Sprint(c.at, " ", c.key, " ", c.what))
		}
	}
	return list
}
