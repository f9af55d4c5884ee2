package faults

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// aggregated is a simulated aggregated API server: its resource versions are not numbers, and it does not support
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

// send sends an event to all watches, with a new resource version.
func (a *aggregated) send(event watch.EventType, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	for _, w := range a.watches {
		w <- fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", event, a.widget(name))
	}
}

// rejectOptions makes it reject the options of streaming lists, and ends all watches.
func (a *aggregated) rejectOptions() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ignores = false
	for _, w := range a.watches {
		close(w)
	}
	a.watches = nil
}

// rejects reports whether a request is for a streaming list, which is rejected.
func (a *aggregated) rejects(r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return isStreamingList(r) && !a.ignores
}

// ServeHTTP implements http.Handler.
func (a *aggregated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if a.rejects(r) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write(statusJSON(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid))
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
		case event, open := <-events:
			if !open {
				return
			}
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

// Resource versions that are not numbers: everything is counted, but events cannot be paired with their handling.
// Unknown lag is not reported.
func TestVersionsThatAreNoNumbers(t *testing.T) {
	fault(t)
	api := &aggregated{version: 7}
	r := newDynamicRig(t, serve(t, api), widgets)
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.now()
	r.start()
	before = r.expect(before, firstState.with(fallback).with(r.listed(1)).with(changes{"objects": 1, "unversioned_objects_total": 1}))
	api.send(watch.Added, "one")
	api.send(watch.Modified, "one")
	api.send(watch.Added, "two")
	api.send(watch.Deleted, "one")
	after := r.expect(before, changes{
		"watch_events_total{type=added}": 2, "watch_events_total{type=modified}": 1, "watch_events_total{type=deleted}": 1,
		"handler_duration_seconds_count{handler=h}": 4, "objects": 1, "propagation_seconds_count": 0,
		"unversioned_objects_total": 4,
	})
	r.is(after, "handler_pending_events{handler=h}", 0)
	r.is(after, "resource_version{stage=received}", 0)
}

// A server that ignores the option streams the objects and never marks the end of the list, for which client-go and
// HasSynced wait. Once a list is complete, the duration of the sync includes the wait.
func TestStreamingListNeverCompletes(t *testing.T) {
	fault(t)
	api := &aggregated{ignores: true}
	r := newDynamicRig(t, serve(t, api), widgets)
	before := r.now()
	r.start()
	r.waitUntilExceeds("last_event_timestamp_seconds", 0)
	after := r.expect(before, changes{"unversioned_objects_total": 1}, lastEvent)
	r.is(after, "synced", 0)
	r.is(after, "watch_connected", 0)
	api.rejectOptions()
	complete := r.waitFor("synced", func(s metricstest.Snapshot) bool { return s[prefix+"synced"] == 1 && s[lastSync] > 0 })
	r.exceeds(nil, complete, "last_sync_duration_seconds", quiet.Seconds())
}
