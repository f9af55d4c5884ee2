package informer_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const readAhead = stream.ReadAhead

// Events that the reflector has not received when it stops the watch are sent again on the next one. They must be neither
// counted as objects twice nor pending twice. They were received nevertheless.
func TestEventsThatWereNotTakenAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		cursor := lw.NewCursor()
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 2))
		<-w.ResultChan()
		time.Sleep(time.Minute)
		for v := 3; v < 3+readAhead; v++ {
			stream.Send(watch.Added, fakeapi.Pod("b", v))
		}
		go func() { // one more than fits
			select {
			case stream.Events <- watch.Event{Type: watch.Deleted, Object: fakeapi.Pod("b", 99)}:
			case <-stream.Stopped():
			}
		}()
		synctest.Wait()
		if n, _ := cursor.Backlog(); n != 2+readAhead {
			t.Fatalf("%d events are remembered", n)
		}
		received := metricstest.Take(t, reg)["k8s_informer_last_event_timestamp_seconds"]
		w.Stop()
		if at := metricstest.Take(t, reg)["k8s_informer_last_event_timestamp_seconds"]; at != received || at == 0 {
			t.Errorf("the last event was received at %v, and then at %v", received, at)
		}
		n, _ := cursor.Backlog()
		if s := informer.Statuses(obs)[0]; n != 1 || s.Objects != 1 || s.Received != 2 {
			t.Errorf("%d events and %d objects are remembered, received is %d; one was taken, with version 2", n, s.Objects, s.Received)
		}
	})
}

// An object that cannot be read does not crash the process: it reaches the reflector, as without the decorator, and so do later
// events. One line is logged. An event that the reflector does not receive is undone completely.
func TestObjectThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		obs, _ := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		for _, streaming := range []bool{false, true} {
			options := metav1.ListOptions{ResourceVersion: "1"}
			if streaming {
				options = metav1.ListOptions{SendInitialEvents: ptr.To(true)}
			}
			w, _ := lw.Watch(options)
			stream := <-server.Streams
			for _, sent := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark} {
				stream.Send(sent, (*corev1.Pod)(nil))
				if got := <-w.ResultChan(); got.Type != sent || got.Object != runtime.Object((*corev1.Pod)(nil)) {
					t.Errorf("got %v, want the typed nil of %s", got, sent)
				}
			}
			stream.Send(watch.Added, fakeapi.Pod("a", 2))
			if got := <-w.ResultChan(); got.Object == nil {
				t.Error("no event after that")
			}
			objects := informer.Statuses(obs)[0].Objects
			stream.Send(watch.Added, (*corev1.Pod)(nil)) // not taken
			synctest.Wait()
			w.Stop()
			if n := informer.Statuses(obs)[0].Objects; n != objects && !streaming {
				t.Errorf("%d objects after an event that was not taken, %d before", n, objects)
			}
		}
		if n := strings.Count(log.String(), "cannot observe"); n != 1 || !regexp.MustCompile(`informer_type=pods panic="runtime error.* stack=.*propagation\.go`).Match(log.Bytes()) {
			t.Errorf("%d lines, want 1 with the stack:\n%s", n, &log)
		}
	})
}

// Events are also undone if they are followed by the error with which a canceled connection ends.
func TestEventsBeforeACancellationAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		cursor := lw.NewCursor()
		ctx, cancel := context.WithCancel(t.Context())
		w, _ := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "1"})
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 2))
		synctest.Wait()
		cancel()
		stream.Fail(&metav1.Status{Status: metav1.StatusFailure, Message: "context canceled"})
		synctest.Wait()
		w.Stop()
		n, _ := cursor.Backlog()
		if s := informer.Statuses(obs)[0]; n != 0 || s.Objects != 0 || s.Received != 0 {
			t.Errorf("%d events and %d objects are remembered, received is %d; none was taken", n, s.Objects, s.Received)
		}
	})
}

// Initial events in no particular order are not in the ring, so undoing them must not remove others.
func TestUnorderedEventsThatWereNotTakenAreUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(20), nil }
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.List(metav1.ListOptions{})
		cursor := lw.NewCursor()
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "20"})
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 21))
		<-w.ResultChan()
		w.Stop()
		before := metricstest.Take(t, reg)
		w, _ = lw.Watch(metav1.ListOptions{ResourceVersion: "0"})
		stream = <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("b", 15))
		stream.Send(watch.Added, fakeapi.Pod("a", 21))
		stream.Send(watch.Modified, fakeapi.Pod("b", 22))
		stream.Send(watch.Added, fakeapi.Pod("c", 23))
		synctest.Wait()
		w.Stop()
		if n, _ := cursor.Backlog(); n != 1 {
			t.Errorf("%d events are remembered; one was taken, from the first watch", n)
		}
		metricstest.Take(t, reg).Since(before, "k8s_informer_watch", "k8s_informer_coverage_gap").Equal(t, metricstest.Snapshot{})
	})
}

// A version that goes backwards is a regression when it is first received, but not when it is resent.
func TestRegressionThatWasNotTakenComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		for _, first := range []bool{true, false} {
			w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
			stream := <-server.Streams
			if first {
				stream.Send(watch.Added, fakeapi.Pod("a", 20))
				<-w.ResultChan()
			}
			stream.Send(watch.Modified, fakeapi.Pod("a", 10))
			stream.Send(watch.Modified, fakeapi.Pod("a", 11))
			synctest.Wait()
			w.Stop()
		}
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			regressions: 1, "k8s_informer_resource_version{stage=received}": 10,
		})
	})
}

// TestEventsThatWereNotTakenComeAgain stops watches repeatedly. Each watch continues from the last event that the reflector
// received, so many events arrive more than once. Except for counters of received events, all metrics must equal those of one
// uninterrupted watch.
func TestEventsThatWereNotTakenComeAgain(t *testing.T) {
	received := []string{"k8s_informer_watch", "k8s_informer_coverage_gap"}
	for seed := range uint64(20) {
		whole, broken := follow(t, seed, 1000), follow(t, seed, 5)
		broken.Since(metricstest.Snapshot{}, received...).Equal(t, whole.Since(metricstest.Snapshot{}, received...))
		if n := whole["k8s_informer_event_lag_seconds_count"]; n < 100 || broken["k8s_informer_watches_total"] < 10 {
			t.Errorf("seed %d: only %v events, on %v watches", seed, n, broken["k8s_informer_watches_total"])
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// follow passes the events of a seed to a handler, at most the given number from each watch.
func follow(t *testing.T, seed uint64, most int) (reported metricstest.Snapshot) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := newSimulator(false)
		lw := informer.NewListerWatcher(obs, pods, server)
		h := lw.Decorate("h", cache.ResourceEventHandlerFuncs{})
		if _, err := lw.List(metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		for range 120 {
			server.Change(r)
		}
		server.Bookmark()
		for version := "100"; version != strconv.Itoa(server.Version()); {
			w, err := lw.Watch(metav1.ListOptions{ResourceVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + r.IntN(most) {
				synctest.Wait() // the read-ahead buffer is full
				if len(w.ResultChan()) == 0 {
					break
				}
				event := <-w.ResultChan()
				version = rv.Of(event.Object)
				deliver(h, event)
			}
			w.Stop()
		}
		reported = metricstest.Take(t, reg)
	})
	return reported
}

// deliver calls a handler as client-go does for an event.
func deliver(h cache.ResourceEventHandler, event watch.Event) {
	switch event.Type {
	case watch.Added:
		h.OnAdd(event.Object, false)
	case watch.Modified:
		h.OnUpdate(fakeapi.Pod("before", 1), event.Object)
	case watch.Deleted:
		h.OnDelete(event.Object)
	}
}
