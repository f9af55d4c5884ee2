package clientgo_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/integrations/clientgo"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// writable is an API server with one Pod. It sends the event of a write before the response, as real ones often do, or when the caller
// has read the response.
type writable struct {
	stream    *fakeapi.Stream
	eventLast bool
	// handled has a value for each event that the handler has finished.
	handled chan struct{}
	version atomic.Int64
}

// change changes the Pod and sends the event.
func (w *writable) change() {
	w.stream.Send(watch.Modified, w.next())
	<-w.handled
}

func (w *writable) next() *corev1.Pod { return fakeapi.Pod("a", int(w.version.Add(1))) }

// RoundTrip implements http.RoundTripper.
func (w *writable) RoundTrip(r *http.Request) (*http.Response, error) {
	pod := w.next()
	sent := func() {
		w.stream.Send(watch.Modified, pod)
		<-w.handled
	}
	body := io.NopCloser(strings.NewReader(`{"metadata":{"resourceVersion":"` + pod.ResourceVersion + `"}}`))
	if w.eventLast {
		body = &readBody{body, sent}
	} else {
		sent()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: body, Header: http.Header{}, Request: r}, nil
}

// readBody calls a function when it is closed.
type readBody struct {
	io.ReadCloser
	closed func()
}

func (b *readBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}

// TestSelfCausedReconciles covers S9: of a controller that writes in each reconcile, all reconciles but the first are caused by its own
// writes. One that writes once after each change, and then finds nothing to do, has one more reconcile for each write. One that
// writes without the context of a reconcile has no series.
func TestSelfCausedReconciles(t *testing.T) {
	const rounds = 40
	for name, c := range map[string]struct {
		eventLast, loops, noContext bool
		// reconciles and selfCaused are the expected numbers.
		reconciles, selfCaused float64
	}{
		"loop":                                 {loops: true, reconciles: rounds + 1, selfCaused: rounds},
		"loop, events after responses":         {loops: true, eventLast: true, reconciles: rounds + 1, selfCaused: rounds},
		"quiet writer":                         {reconciles: 2 * rounds, selfCaused: rounds},
		"quiet writer, events after responses": {eventLast: true, reconciles: 2 * rounds, selfCaused: rounds},
		"loop without the context":             {loops: true, noContext: true, reconciles: rounds + 1},
	} {
		t.Run(name, func(t *testing.T) {
			obs, registry := observertest.New(t)
			server := fakeapi.NewServer()
			inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			q := clientgo.NewTypedRateLimitingQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[string]())
			defer q.ShutDown()
			api := &writable{eventLast: c.eventLast, handled: make(chan struct{}, 1)}
			api.version.Store(10)
			if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
				q.Add(object.(metav1.Object).GetName())
				api.handled <- struct{}{}
			}}); err != nil {
				t.Fatal(err)
			}
			go inf.RunWithContext(t.Context())
			api.stream = <-server.Streams
			api.stream.Send(watch.Added, fakeapi.Pod("a", 9))

			client := apiclient.WrapTransport(obs, api)
			write := func(ctx context.Context) error {
				if c.noContext {
					ctx = t.Context()
				}
				r, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://server/api/v1/namespaces/default/pods/a/status", http.NoBody)
				if err != nil {
					return err
				}
				response, err := client.RoundTrip(r)
				if err != nil {
					return err
				}
				defer response.Body.Close()
				_, err = io.Copy(io.Discard, response.Body)
				return err
			}
			writes, due := 0, false
			sync := clientgo.NewSyncHandler(obs, "c", func(ctx context.Context, _ string) error {
				if !due || writes == rounds {
					return nil
				}
				writes++
				due = c.loops
				return write(ctx)
			})
			process := func() {
				key, _ := q.Get()
				if err := sync(t.Context(), key); err != nil {
					t.Error(err)
				}
				q.Done(key)
			}
			for range rounds {
				due = true
				api.change()
				for process(); q.Len() > 0; {
					process()
				}
				if c.loops {
					break
				}
			}
			s := metricstest.Take(t, registry)
			if got := s["controller_reconcile_total{controller=c,result=success}"]; got != c.reconciles {
				t.Errorf("%v reconciles, want %v", got, c.reconciles)
			}
			got, ok := s["controller_self_caused_reconciles_total{controller=c}"]
			if got != c.selfCaused || ok == c.noContext {
				t.Errorf("%v (%v) are self-caused, want %v", got, ok, c.selfCaused)
			}
		})
	}
}
