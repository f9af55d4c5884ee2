//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// newDynamicRig is a decorated informer of any resource, for servers and kinds that no typed client knows.
func newDynamicRig(t *testing.T, config *rest.Config, gvr schema.GroupVersionResource) *rig {
	t.Helper()
	client := dynamic.NewForConfigOrDie(config).Resource(gvr)
	r := &rig{T: t, registry: prometheus.NewPedanticRegistry()}
	obs, err := collectors.New(r.registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, o)
		},
	}
	r.informer = obs.NewSharedIndexInformer(collectors.For(gvr, metav1.NamespaceAll), lw, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	t.Cleanup(func() {
		if r.stop != nil {
			r.stop()
		}
	})
	return r
}

// aggregated is an aggregated API server of its own make: its resourceVersions are no numbers, and it knows nothing of
// streaming lists.
type aggregated struct {
	// ignores makes it ignore the options of streaming lists, as very old servers do, instead of rejecting them.
	ignores bool

	mu      sync.Mutex
	version int
	watches []chan string
}

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func (a *aggregated) widget(name string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":"default","uid":%q,"resourceVersion":"rev-%d-x"}}`, name, name, a.version)
}

// send sends an event to all watches, under a new resourceVersion.
func (a *aggregated) send(event watch.EventType, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	for _, w := range a.watches {
		w <- fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", event, a.widget(name))
	}
}

// ServeHTTP implements http.Handler.
func (a *aggregated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if isStreamingList(r) && !a.ignores {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		})
		return
	}
	if isList(r) {
		a.mu.Lock()
		defer a.mu.Unlock()
		fmt.Fprintf(w, `{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"resourceVersion":"rev-%d-x"},"items":[%s]}`, a.version, a.widget("listed"))
		return
	}
	events := make(chan string, 16)
	a.mu.Lock()
	if isStreamingList(r) {
		events <- fmt.Sprintf(`{"type":"ADDED","object":%s}`+"\n", a.widget("listed"))
	}
	a.watches = append(a.watches, events)
	a.mu.Unlock()
	w.(http.Flusher).Flush()
	for {
		select {
		case event := <-events:
			if _, err := fmt.Fprint(w, event); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func serve(t *testing.T, a *aggregated) *rest.Config {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// resourceVersions that are no numbers: everything is counted, but no event can be paired with its handling. There is
// no lag rather than a wrong one.
func TestVersionsThatAreNoNumbers(t *testing.T) {
	t.Parallel()
	api := &aggregated{version: 7}
	r := newDynamicRig(t, serve(t, api), widgets)
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.now()
	r.start()
	before = r.expect(before, firstState.with(changes{
		"objects": 1, "list_pages_total": 1, "relists_total{reason=initial}": 0, "relists_total{reason=fallback}": 1,
		"sync_errors_total{error_type=other}": 1, "sync_duration_seconds_count{result=fail}": 1,
		"event_lag_seconds_count": 1, "handler_duration_seconds_count{handler=h}": 1, // the object of the list counts from its end
	}), lastEvent, lastSync)
	api.send(watch.Added, "one")
	api.send(watch.Modified, "one")
	api.send(watch.Added, "two")
	api.send(watch.Deleted, "one")
	r.expect(before, changes{
		"watch_events_total{type=added}": 2, "watch_events_total{type=modified}": 1, "watch_events_total{type=deleted}": 1,
		"handler_duration_seconds_count{handler=h}": 4, "objects": 1, "propagation_seconds_count": 0,
	}, lastEvent)
}

// A server that ignores the option streams the objects and never says that they are complete. client-go waits for that,
// and so does whoever waits for the informer.
func TestStreamingListNeverCompletes(t *testing.T) {
	t.Parallel()
	r := newDynamicRig(t, serve(t, &aggregated{ignores: true}), widgets)
	before := r.now()
	r.start()
	r.waitFor("the object", func(s metricstest.Snapshot) bool { return s[lastEvent] > 0 })
	r.expect(before, changes{}, lastEvent)
}
