package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
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
		Generation                     int64
		ObservedGeneration             *int64
		LastWrite                      *struct {
			ResourceVersion string
			Time            time.Time
			EchoSeconds     *float64
			Stored          bool
		}
		Handlers []struct {
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

		LastReconcile *struct {
			Result, Error string
			Time          time.Time
		}
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
	// broken makes lists and watches fail, hang blocks the handler, and fail the reconciles, which end with result if it is false.
	broken, fail atomic.Bool
	result       atomic.Pointer[result]
	hang         chan struct{}
}

// result is the result of a reconcile, with the fields of controller-runtime's.
type result struct {
	RequeueAfter time.Duration
	err          error
}

// errTerminal is an error that is not retried.
type errTerminal struct{ error }

func (errTerminal) Terminal() bool { return true }

var errBroken = errors.New("broken")

// answer is an API server with one answer.
type answer string

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// write changes the status of an object, with the given version as the answer.
func (p *program) write(version int) {
	body := answer(fmt.Sprintf(`{"metadata":{"name":"a","namespace":"default","resourceVersion":"%d"}}`, version))
	request, err := http.NewRequestWithContext(p.Context(), http.MethodPatch, "https://server/api/v1/namespaces/default/pods/a/status", strings.NewReader("{}"))
	if err != nil {
		p.Fatal(err)
	}
	response, err := apiclient.WrapTransport(p.obs, body).RoundTrip(request)
	if err != nil {
		p.Fatal(err)
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		p.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		p.Fatal(err)
	}
}

func newProgram(t *testing.T, workers int, checks ...collectors.Checks) *program {
	p := &program{T: t, server: fakeapi.NewServer(), hang: make(chan struct{})}
	p.obs, _ = observertest.New(t, func(o *collectors.Options) {
		o.Checks.Freshness = 30 * time.Second
		for _, c := range checks {
			o.Checks = c
		}
	})
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
	reconcile := controllers.NewReconciler(p.obs, "pods", func(ctx context.Context, key string) (result, error) {
		if key == "default/stuck" {
			<-ctx.Done()
		}
		if p.fail.Load() {
			return result{}, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a", errBroken)
		}
		if r := p.result.Load(); r != nil {
			return *r, r.err
		}
		return result{}, nil
	}, controllers.Options{})
	for range workers {
		go func() {
			for {
				key, shutdown := p.queue.Get()
				if shutdown {
					return
				}
				switch r, err := reconcile(ctx, key); {
				case err != nil && !errors.As(err, &errTerminal{}):
					p.queue.AddRateLimited(key)
				case r.RequeueAfter > 0:
					p.queue.Forget(key)
					p.queue.AddAfter(key, r.RequeueAfter)
				default:
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
		"half-open, noticed by a write": {1, func(p *program) { p.write(12); p.wait(time.Minute) },
			"write_unseen", "has not received the program's own write of 1m0s ago"},
		"a write of an object out of sight": {1, func(p *program) { p.write(12); p.stream.Send(watch.Added, fakeapi.Pod("b", 13)); p.wait(time.Minute) },
			"", ""},
		"terminal error": {1, func(p *program) {
			p.result.Store(&result{err: errTerminal{errBroken}})
			p.queue.Add("default/a")
			p.wait(time.Minute)
		}, "failed", "the last reconcile of controller pods ended 1m0s ago with terminal (other)"},
		"requeued": {1, func(p *program) {
			p.result.Store(&result{RequeueAfter: time.Hour})
			p.queue.Add("default/a")
			p.wait(time.Minute)
		},
			"", ""},
		"unobserved-generation": {1, func(p *program) {
			pod := fakeapi.Pod("a", 11)
			pod.Generation, pod.Status.ObservedGeneration = 3, 2
			p.stream.Send(watch.Modified, pod)
			p.wait(time.Minute)
		}, "unobserved", "status.observedGeneration is 2, metadata.generation 3"},
		"leader-partition": {1, func(p *program) { p.wait(2 * time.Hour) },
			"not_leading", "does not lead"},
		"busy worker": {1, func(p *program) {
			p.queue.Add("default/stuck")
			p.wait(time.Second)
			p.queue.Add("default/a")
			p.wait(time.Minute)
		},
			"queued", "the item has been ready for 1m0s in the queue of controller pods; ready items: 1"},
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

// An explanation has the end of the last reconcile, when a backoff ends, and the program's last write with its echo.
func TestExplainReconcileAndWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, 1)
		if e := get[explanation](t, p.obs, explainA); e.Caches[0].LastWrite != nil || e.Queues[0].LastReconcile == nil || e.Queues[0].LastReconcile.Result != "success" {
			t.Errorf("%+v", e)
		}
		p.fail.Store(true)
		p.queue.Add("default/a")
		p.wait(100 * time.Millisecond)
		at := time.Now().Add(-100 * time.Millisecond)
		q := get[explanation](t, p.obs, explainA).Queues[0]
		if r := q.LastReconcile; r == nil || r.Result != "error" || r.Error != "conflict" || !r.Time.Equal(at) {
			t.Errorf("%+v", r)
		}
		if q.Retried == nil || q.Retried.BackoffUntil == nil || !q.Retried.BackoffUntil.Equal(at.Add(time.Second)) {
			t.Errorf("%+v, want a backoff until %v", q.Retried, at.Add(time.Second))
		}

		p.write(12)
		written := time.Now()
		p.wait(2 * time.Second)
		if w := get[explanation](t, p.obs, explainA).Caches[0].LastWrite; w == nil || w.ResourceVersion != "12" || !w.Time.Equal(written) || w.EchoSeconds != nil || w.Stored {
			t.Errorf("%+v before the echo", w)
		}
		p.stream.Send(watch.Modified, fakeapi.Pod("a", 12))
		p.wait(time.Second)
		if w := get[explanation](t, p.obs, explainA).Caches[0].LastWrite; w == nil || w.EchoSeconds == nil || *w.EchoSeconds != 2 || !w.Stored {
			t.Errorf("%+v after the echo", w)
		}
		if e := get[explanation](t, p.obs, inspect.ExplainPath+"?resource=pods&namespace=other&name=a"); e.Caches[0].LastWrite != nil || len(e.Queues) > 0 {
			t.Errorf("another object: %+v", e)
		}
	})
}

// A resource is found with and without its group.
func TestExplainResourceNames(t *testing.T) {
	obs, _ := observertest.New(t)
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Group: "apps", Resource: "deployments"}, fakeapi.NewServer(), &appsv1.Deployment{}, cache.SharedIndexInformerOptions{})
	for resource, want := range map[string]int{"deployments.apps": 1, "deployments": 1, "deployments.example.com": 0, "apps": 0} {
		if e := get[explanation](t, obs, inspect.ExplainPath+"?namespace=n&name=a&resource="+resource); len(e.Caches) != want {
			t.Errorf("%s: %d caches, want %d", resource, len(e.Caches), want)
		}
	}
	goruntime.KeepAlive(inf)
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
