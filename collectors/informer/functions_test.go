package informer_test

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A Transform on an informer with several handlers is logged once, with the handlers that share it (S28).
func TestSharedTransform(t *testing.T) {
	const set = "k8s_informer_transforms"
	var log bytes.Buffer
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	inf := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	logged := func() int { return strings.Count(log.String(), "changes objects for several handlers") }
	add := func(name string) {
		t.Helper()
		addHandler(t, inf, informer.NamedHandler(name, cache.ResourceEventHandlerFuncs{}))
	}
	setTransform := func(f cache.TransformFunc) {
		t.Helper()
		if err := inf.SetTransform(f); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(obj any) (any, error) { return obj, nil }
	add("first")
	if _, ok := metricstest.Take(t, reg)[set]; ok {
		t.Error("there is a transform")
	}
	setTransform(keep)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{set: 1})
	if n := logged(); n != 0 {
		t.Errorf("%d lines for one handler", n)
	}
	add("second")
	add("third")
	if n := logged(); n != 1 || !regexp.MustCompile(`informer_type=pods watch_namespace=\* set_at=\S*functions_test.go:\d+ handlers="\[first second\]"`).Match(log.Bytes()) {
		t.Errorf("%d lines:\n%s", n, &log)
	}
	setTransform(keep) // another one
	if n := logged(); n != 2 {
		t.Errorf("%d lines after another transform, want 2", n)
	}
	setTransform(nil)
	if _, ok := metricstest.Take(t, reg)[set]; ok || logged() != 2 {
		t.Error("the transform was not removed")
	}
}

// An index function that fails makes client-go panic, and no handler gets the event (P8, S21). A failure during a read loses no
// event.
func TestIndexFunctionThatFails(t *testing.T) {
	defer func(before bool) { utilruntime.ReallyCrash = before }(utilruntime.ReallyCrash) //nolint:reassign // client-go's own switch
	utilruntime.ReallyCrash = false
	const failed, lost = "k8s_informer_index_errors_total", "k8s_informer_events_lost_total{reason=index}"
	index := func(obj any) ([]string, error) {
		switch obj.(*corev1.Pod).Name {
		case "error":
			return nil, errTest
		case "panic":
			panic(errors.New("broken index function"))
		}
		return nil, nil
	}
	for name, create := range map[string]func(*testing.T, *collectors.Observer, *fakeapi.Server) (cache.Indexer, func()){
		"at the start": func(t *testing.T, obs *collectors.Observer, server *fakeapi.Server) (cache.Indexer, func()) {
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"x": index}})
			addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
			return inf.GetIndexer(), start(t, inf)
		},
		"added": func(t *testing.T, obs *collectors.Observer, server *fakeapi.Server) (cache.Indexer, func()) {
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
			addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
			if err := inf.AddIndexers(cache.Indexers{"x": index}); err != nil {
				t.Error(err)
			}
			return inf.GetIndexer(), start(t, inf)
		},
		"added to the store": func(t *testing.T, obs *collectors.Observer, server *fakeapi.Server) (cache.Indexer, func()) {
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
			addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
			if err := inf.GetIndexer().AddIndexers(cache.Indexers{"x": index}); err != nil {
				t.Error(err)
			}
			return inf.GetIndexer(), start(t, inf)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				store, stop := create(t, obs, server)
				stream := <-server.Streams
				stream.Send(watch.Added, fakeapi.Pod("fine", 6))
				synctest.Wait()
				if _, ok := metricstest.Take(t, reg)[failed]; ok {
					t.Error("counted without a failure")
				}
				if _, err := store.Index("x", fakeapi.Pod("error", 1)); err == nil {
					t.Error("the reader gets no error")
				}
				check(t, metricstest.Take(t, reg), metricstest.Snapshot{failed: 1})
				stream.Send(watch.Added, fakeapi.Pod("error", 7))
				time.Sleep(time.Minute) // client-go waits after a panic
				stream.Send(watch.Added, fakeapi.Pod("panic", 8))
				time.Sleep(time.Minute)
				stream.Send(watch.Added, fakeapi.Pod("later", 9))
				synctest.Wait()
				s := metricstest.Take(t, reg)
				check(t, s, metricstest.Snapshot{lost: 2, "k8s_informer_handler_duration_seconds_count{handler=h}": 2, "k8s_informer_handler_pending_events{handler=h}": 0})
				if s[failed] < 3 {
					t.Errorf("%v failed calls", s[failed])
				}
				stop()
			})
		})
	}
}

// Different resync periods of the handlers of one informer are reported, including handlers without resync (P4).
func TestUnequalResyncPeriods(t *testing.T) {
	const unequal = "k8s_informer_resync_periods"
	obs, reg := observertest.New(t)
	inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute}))
	var last cache.ResourceEventHandlerRegistration
	for _, step := range []struct {
		period time.Duration
		want   float64
	}{
		{time.Minute, 0}, {time.Minute, 0}, {time.Hour, 2}, {0, 3}, {0, 3},
	} {
		var err error
		if last, err = inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, step.period); err != nil {
			t.Fatal(err)
		}
		if got := metricstest.Take(t, reg)[unequal]; got != step.want {
			t.Errorf("%v: %v periods, want %v", step.period, got, step.want)
		}
	}
	if err := inf.RemoveEventHandler(last); err != nil {
		t.Fatal(err)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{unequal: 3})
}

// Informers with the same labels may have different periods.
func TestResyncPeriodsOfDuplicates(t *testing.T) {
	obs, reg := observertest.New(t)
	for _, period := range []time.Duration{0, time.Minute} {
		inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute}))
		if _, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, period); err != nil {
			t.Fatal(err)
		}
	}
	if got, exists := metricstest.Take(t, reg)["k8s_informer_resync_periods"]; exists {
		t.Errorf("%v periods of two informers with one each", got)
	}
}

// If an index function fails for a typed nil, the reader gets the error, as without the decorator.
func TestIndexFunctionForATypedNil(t *testing.T) {
	obs, reg := observertest.New(t)
	inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"node": func(any) ([]string, error) { return nil, errors.New("no node") }},
	}))
	if _, err := inf.GetIndexer().Index("node", (*corev1.Pod)(nil)); err == nil {
		t.Error("no error")
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_index_errors_total": 1})
}
