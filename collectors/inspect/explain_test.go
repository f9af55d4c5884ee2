package inspect_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const explainA = inspect.ExplainPath + "?resource=pods&namespace=default&name=a"

type explanation struct {
	Causes []struct{ Cause, Detail string }
	Caches []struct {
		Synced, WatchConnected, Cached bool
		ResourceVersion                string
		Received, DeletionTimestamp    *time.Time
		Finalizers                     []string
		Handlers                       []struct {
			Handler string
			Handled *bool
			Pending uint64
		}
	}
	Queues []struct {
		Controller string
		ReadySince *time.Time
		Delayed    bool
		Retried    *item
	}
	Leader *bool
}

// causes returns the causes of an explanation, and fails the test unless the details of the first one have a text.
func (e explanation) causes(t *testing.T, detail string) string {
	t.Helper()
	var all []string
	for _, c := range e.Causes {
		all = append(all, c.Cause)
	}
	if len(all) > 0 && !strings.Contains(e.Causes[0].Detail, detail) {
		t.Errorf("%q does not have %q", e.Causes[0].Detail, detail)
	}
	return strings.Join(all, " ")
}

// program is a controller of Pods with an observed informer, handler, queue and lock.
type program struct {
	*testing.T
	obs    *collectors.Observer
	server *fakeapi.Server
	stream *fakeapi.Stream
	queue  *queue.Queue[string]
	lock   resourcelock.Interface
	// broken makes lists and watches fail, hang blocks the handler and fail the reconciles.
	broken, fail atomic.Bool
	hang         chan struct{}
}

var errBroken = errors.New("broken")

func newProgram(t *testing.T, workers int) *program {
	p := &program{T: t, server: fakeapi.NewServer(), hang: make(chan struct{})}
	p.obs, _ = observertest.New(t, func(o *collectors.Options) { o.Checks.Freshness = 30 * time.Second })
	p.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
		if p.broken.Load() {
			return nil, errBroken
		}
		return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil
	}
	opened := false
	p.server.OnWatch = func(o metav1.ListOptions) (watch.Interface, error) {
		switch {
		case p.broken.Load():
			return nil, errBroken
		case opened:
			w := watch.NewFake() // of a freshness check, without changes
			time.AfterFunc(time.Second, w.Stop)
			return w, nil
		}
		opened = true
		return nil, nil //nolint:nilnil // a Stream
	}
	p.queue = queue.NewTypedRateLimitingQueue(p.obs, "pods", workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Hour), queue.Options[string]{})
	inf := informer.NewSharedIndexInformer(p.obs, informer.ID{Resource: "pods"}, p.server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	add := func(object any) {
		select {
		case <-p.hang:
			<-t.Context().Done()
		default:
		}
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err == nil {
			p.queue.Add(key)
		}
	}
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }, DeleteFunc: add}); err != nil {
		t.Fatal(err)
	}
	if err := inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}); err != nil { // the default waits in real time
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	for range workers {
		go func() {
			for {
				key, shutdown := p.queue.Get()
				if shutdown {
					return
				}
				if p.fail.Load() {
					p.queue.AddRateLimited(key)
				} else {
					p.queue.Forget(key)
				}
				p.queue.Done(key)
			}
		}()
	}
	p.lock = leader.NewLock(p.obs, &lock{}, leader.Options{})
	if err := p.lock.Create(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 3600}); err != nil {
		t.Fatal(err)
	}
	p.stream = <-p.server.Streams
	p.wait(time.Second)
	t.Cleanup(func() { cancel(); <-done; p.queue.ShutDown() })
	return p
}

func (p *program) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Each fault of the demo that concerns an object is the first cause of its explanation, and a healthy object has none.
func TestExplainFaults(t *testing.T) {
	for name, c := range map[string]struct {
		workers       int
		inject        func(*program)
		want, details string
	}{
		"healthy": {1, func(*program) {}, "", ""},
		"cut": {1, func(p *program) { p.broken.Store(true); p.stream.Close(); p.wait(time.Minute) },
			"watch_down", "the informer has had no watch for 1m0s"},
		"half-open": {1, func(p *program) { p.broken.Store(true); p.wait(10 * time.Minute) },
			"cache_behind", "behind the API server by"},
		"slow-handlers": {1, func(p *program) {
			close(p.hang)
			p.stream.Send(watch.Modified, fakeapi.Pod("a", 11))
			p.wait(time.Second)
		},
			"not_handled", "has not finished the object's last event; pending events: 1, the oldest for 1s"},
		"slow handler of another object": {1, func(p *program) { close(p.hang); p.stream.Send(watch.Added, fakeapi.Pod("b", 11)); p.wait(time.Minute) },
			"not_handled", "is behind: pending events: 1, the oldest for 1m0s"},
		"stuck-finalizer": {1, func(p *program) {
			pod := fakeapi.Pod("a", 11)
			pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: time.Now()}, []string{"example.com/stuck"}
			p.stream.Send(watch.Modified, pod)
			p.wait(time.Minute)
		}, "terminating", "terminating for 1m0s: blocked by finalizer example.com/stuck"},
		"failing-reconciles": {1, func(p *program) { p.fail.Store(true); p.queue.Add("default/a"); p.wait(10 * time.Second) },
			"backoff", "controller pods has retried the item 4 times in 10s; next attempt in 5s"},
		"hanging-cleanup": {1, func(p *program) {
			p.fail.Store(true)
			pod := fakeapi.Pod("a", 11)
			pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: time.Now()}, []string{"example.com/cleanup"}
			p.stream.Send(watch.Modified, pod)
			p.wait(10 * time.Second)
		}, "terminating backoff", "blocked by finalizer example.com/cleanup"},
		"leader-partition": {1, func(p *program) { p.wait(2 * time.Hour) },
			"not_leading", "does not lead"},
		"no workers": {0, func(p *program) { p.wait(time.Minute) },
			"no_workers", "no running worker"},
		"deleted": {1, func(p *program) { p.stream.Send(watch.Deleted, fakeapi.Pod("a", 11)); p.wait(time.Second) },
			"not_cached", "does not have the object"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t, c.workers)
				c.inject(p)
				e := get[explanation](t, p.obs, explainA)
				if got := e.causes(t, c.details); got != c.want {
					t.Errorf("causes %q, want %q: %+v", got, c.want, e)
				}
			})
		})
	}
	t.Run("unknown-kind", func(t *testing.T) {
		obs, _ := observertest.New(t)
		informer.Statuses(obs) // creates the part
		if got := get[explanation](t, obs, explainA).causes(t, "no informer watches pods"); got != "no_informer" {
			t.Errorf("causes %q", got)
		}
	})
}

// An explanation has the times at which the last event was received, and the state of the item.
func TestExplanation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, 0)
		p.wait(time.Minute)
		sent := time.Now()
		p.stream.Send(watch.Modified, fakeapi.Pod("a", 11))
		p.wait(time.Minute)
		p.queue.AddAfter("default/a", time.Hour)
		p.wait(time.Second)
		e := get[explanation](t, p.obs, explainA)
		if c := e.Caches[0]; !c.Cached || !c.Synced || !c.WatchConnected || c.ResourceVersion != "11" || c.Received == nil || !c.Received.Equal(sent) || c.DeletionTimestamp != nil {
			t.Errorf("%+v, want an event received at %v", c, sent)
		}
		if h := e.Caches[0].Handlers; len(h) != 1 || h[0].Handled == nil || !*h[0].Handled || h[0].Pending != 0 {
			t.Errorf("%+v", h)
		}
		if q := e.Queues; len(q) != 1 || q[0].Controller != "pods" || !q[0].Delayed || q[0].Retried != nil || q[0].ReadySince == nil || time.Since(*q[0].ReadySince) != 2*time.Minute+2*time.Second {
			t.Errorf("%+v", q)
		}
		if e.Leader == nil || !*e.Leader {
			t.Error("does not lead")
		}
		// An object of a list has no event.
		if c := get[explanation](t, p.obs, inspect.ExplainPath+"?resource=pods&namespace=other&name=a").Caches; len(c) != 1 || c[0].Cached {
			t.Errorf("%+v", c)
		}
	})
}

// A request must name a resource and an object.
func TestExplainRequests(t *testing.T) {
	obs, _ := observertest.New(t)
	for _, query := range []string{"", "?resource=pods", "?name=a"} {
		w := httptest.NewRecorder()
		inspect.NewHandler(obs).ServeHTTP(w, httptest.NewRequest(http.MethodGet, inspect.ExplainPath+query, http.NoBody))
		if w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", query, w.Code)
		}
	}
	if e := get[explanation](t, obs, explainA); e.Causes == nil || e.Caches == nil || e.Queues == nil || e.Leader != nil {
		t.Errorf("without any part: %+v", e)
	}
}

// lock is a resourcelock.Interface that any candidate can acquire.
type lock struct{}

func (*lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return nil, nil, errBroken
}
func (*lock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
func (*lock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
func (*lock) RecordEvent(string)                                              {}
func (*lock) Identity() string                                                { return "me" }
func (*lock) Describe() string                                                { return "shop/controller" }
