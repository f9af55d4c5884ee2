package informer_test

import (
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// panicsAtFirst panics at every call for the object "first".
func panicsAtFirst(calls chan<- string) cache.ResourceEventHandler {
	call := func(what string, obj any) {
		name := obj.(*corev1.Pod).Name
		calls <- what + " " + name
		if name == "first" {
			panic("broken handler")
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { call("add", obj) },
		UpdateFunc: func(_, obj any) { call("update", obj) },
		DeleteFunc: func(obj any) { call("delete", obj) },
	}
}

// An isolated handler that panics receives its next events, and the other handlers receive all (S21).
func TestIsolatedHandlers(t *testing.T) {
	for name, wrap := range map[string]func(cache.ResourceEventHandler) cache.ResourceEventHandler{
		"named, then isolated": func(h cache.ResourceEventHandler) cache.ResourceEventHandler {
			return informer.Isolate(informer.NamedHandler("broken", h))
		},
		"isolated, then named": func(h cache.ResourceEventHandler) cache.ResourceEventHandler {
			return informer.NamedHandler("broken", informer.Isolate(h))
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := &logLines{}
			obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
				return fakeapi.PodList(10, fakeapi.Pod("first", 7)), nil
			}
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			calls, others := make(chan string, 10), make(chan string, 10)
			registration := addHandler(t, inf, wrap(panicsAtFirst(calls)))
			addHandler(t, inf, informer.NamedHandler("other", cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { others <- "add " + obj.(*corev1.Pod).Name },
				DeleteFunc: func(obj any) { others <- "delete " + obj.(*corev1.Pod).Name }, //nolint:informerlint // the stream sends each deletion
			}))
			start(t, inf)
			stream := <-server.Streams
			stream.Send(watch.Modified, fakeapi.Pod("first", 11))
			stream.Send(watch.Deleted, fakeapi.Pod("first", 12))
			stream.Send(watch.Added, fakeapi.Pod("second", 13))
			for _, want := range []string{"add first", "update first", "delete first", "add second"} {
				expect(t, calls, want)
			}
			for _, want := range []string{"add first", "delete first", "add second"} {
				expect(t, others, want)
			}
			metricstest.Await(t, reg, metricstest.Snapshot{
				"k8s_informer_handler_duration_seconds_count{handler=broken}": 1,
				"k8s_informer_handler_panics_total{handler=broken}":           3, "k8s_informer_handler_panics_total{handler=other}": 0,
				"k8s_informer_handler_pending_events{handler=broken}": 0, "k8s_informer_sync_lag_seconds": 0,
			})
			await.True(t, "the handler is synced, because it got the whole list", registration.HasSynced)
			log.eventually(t, 3)
			if !strings.Contains(log.String(), "handler=broken panic=\"broken handler\"") || !strings.Contains(log.String(), "panicsAtFirst") {
				t.Errorf("the log lacks the handler, the panic or the stack:\n%s", log)
			}
		})
	}
}

// Isolate recovers panics inside other handlers and on informers without decorators, too.
func TestIsolatedHandlersElsewhere(t *testing.T) {
	log := &logLines{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	defer slog.SetDefault(before)
	calls := make(chan string, 10)
	h := cache.FilteringResourceEventHandler{FilterFunc: func(any) bool { return true }, Handler: informer.Isolate(panicsAtFirst(calls))}
	h.OnAdd(fakeapi.Pod("first", 1), false)
	h.OnUpdate(fakeapi.Pod("first", 1), fakeapi.Pod("first", 2))
	h.OnDelete(fakeapi.Pod("first", 2))
	h.OnAdd(fakeapi.Pod("second", 3), false)
	for _, want := range []string{"add first", "update first", "delete first", "add second"} {
		expect(t, calls, want)
	}
	log.eventually(t, 3)
}
