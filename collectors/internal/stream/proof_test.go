package stream_test

import (
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// After a failure, a watch is up once it has delivered an event or a bookmark, or was open for a second, and then was since it was
// opened. Otherwise the time without a watch goes on: in the same coverage gap, with the same relist reason (S5, S6, S14).
func TestWatchIsUpOnceItHasShownIt(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old resource version").Status()
	for name, c := range map[string]struct {
		show func(*fakeapi.Stream)
		up   bool
	}{
		"an error":              {func(s *fakeapi.Stream) { s.Fail(&expired) }, false},
		"an error a bit later":  {func(s *fakeapi.Stream) { time.Sleep(900 * time.Millisecond); s.Fail(&expired) }, false},
		"an end":                {(*fakeapi.Stream).Close, false},
		"nothing yet":           {func(*fakeapi.Stream) { time.Sleep(900 * time.Millisecond) }, false},
		"a second":              {func(*fakeapi.Stream) { time.Sleep(time.Second) }, true},
		"an event":              {func(s *fakeapi.Stream) { s.Send(watch.Modified, fakeapi.Pod("a", 2)) }, true},
		"a bookmark":            {func(s *fakeapi.Stream) { s.Send(watch.Bookmark, fakeapi.Bookmark(2)) }, true},
		"an event and an error": {func(s *fakeapi.Stream) { s.Send(watch.Modified, fakeapi.Pod("a", 2)); s.Fail(&expired) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, reg := observertest.New(t)
				obs := core.Of(o)
				conn := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "*"), "pods", "*"))
				server := fakeapi.NewServer()
				lw := conn.Decorate(server)
				open := func() (watch.Interface, *fakeapi.Stream) {
					w, err := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
					if err != nil {
						t.Fatal(err)
					}
					go func() {
						for range w.ResultChan() {
						}
					}()
					return w, <-server.Streams
				}
				gaps := func() (float64, float64) {
					s := metricstest.Take(t, reg)
					return s["k8s_informer_coverage_gap_seconds_count"], s["k8s_informer_coverage_gap_seconds_sum"]
				}
				openedFirst := obs.Now()
				first, s := open()
				defer first.Stop()
				if !conn.Open() || conn.DownSince() != 0 {
					t.Error("the first watch is not up from the start")
				}
				time.Sleep(time.Minute)
				lost := obs.Now()
				s.Close()
				synctest.Wait()
				time.Sleep(30 * time.Second)
				opened := obs.Now()
				second, s := open()
				defer second.Stop()
				c.show(s)
				synctest.Wait()

				since := conn.DownSince()
				count, sum := gaps()
				switch {
				case c.up && (!conn.Open() || since != 0 || conn.Opened() != opened || count != 1 || sum != 30):
					t.Errorf("up: %t since %v, opened at %v, %v gaps of %v s; want one of 30 s", conn.Open(), since, conn.Opened(), count, sum)
				case !c.up && conn.Open():
					t.Error("up")
				case name == "an event and an error":
					if since != opened || count != 1 || sum != 30 {
						t.Errorf("down since %v, %v gaps of %v s; want since %v, one of 30 s", since, count, sum, opened)
					}
				case !c.up && (since != lost || conn.Opened() != openedFirst || count != 0):
					t.Errorf("down since %v, opened at %v, %v gaps; want %v, %v, none", since, conn.Opened(), count, lost, openedFirst)
				}
				if c.up || count > 0 {
					return
				}
				second.Stop()
				third, _ := open()
				defer third.Stop()
				took := obs.Now() - lost
				time.Sleep(time.Second)
				if !conn.Open() {
					t.Error("the third watch is not up after a second")
				}
				if count, sum := gaps(); count != 1 || sum != time.Duration(took).Seconds() {
					t.Errorf("%v gaps of %v s, want one of %v", count, sum, time.Duration(took))
				}
			})
		})
	}
}

// A watch that follows a planned end is up from the start: watches end so every few minutes. If it fails, it never was.
func TestWatchAfterAPlannedEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, reg := observertest.New(t)
		obs := core.Of(o)
		c := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "*"), "pods", "*"))
		server := fakeapi.NewServer()
		seconds := int64(300)
		lw := c.Decorate(server)
		first, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1", TimeoutSeconds: &seconds})
		defer first.Stop()
		time.Sleep(5 * time.Minute)
		lost := obs.Now()
		(<-server.Streams).Close()
		synctest.Wait()
		time.Sleep(time.Millisecond)
		second, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1", TimeoutSeconds: &seconds})
		defer second.Stop()
		if !c.Open() || c.DownSince() != 0 || c.OpenedTime().IsZero() {
			t.Error("down between two watches of five minutes")
		}
		if n := metricstest.Take(t, reg)["k8s_informer_coverage_gap_seconds_count"]; n != 0 {
			t.Errorf("%v gaps before the watch has shown that it is up", n)
		}
		status := apierrors.NewResourceExpired("too old resource version").Status()
		(<-server.Streams).Fail(&status)
		synctest.Wait()
		if c.Open() || c.DownSince() != lost || !c.OpenedTime().IsZero() {
			t.Errorf("down since %v, want %v", c.DownSince(), lost)
		}
	})
}
