package informer_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// drain reads a watch to its end, as a reflector does.
func drain(w watch.Interface) {
	for range w.ResultChan() {
	}
}

func status(err *apierrors.StatusError) *metav1.Status { return &err.ErrStatus }

// clientError returns the object of the error event that client-go makes of a broken stream.
func clientError(text string) *metav1.Status {
	s := apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", schema.GroupResource{}, "", text, 0, true).ErrStatus
	s.Details.Causes = []metav1.StatusCause{{Type: "ClientWatchDecoding", Message: "unable to decode an event from the watch stream: " + text}}
	return &s
}

// Each kind of end of a watch is counted exactly once (S6).
func TestWatchEnds(t *testing.T) {
	undecodable := apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", schema.GroupResource{}, "", "bad", 0, true)
	undecodable.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "ClientWatchDecoding"}}
	seconds := int64(300)
	for name, c := range map[string]struct {
		end  func(*fakeapi.Stream, watch.Interface)
		want metricstest.Snapshot
	}{
		"planned": {
			func(s *fakeapi.Stream, _ watch.Interface) { time.Sleep(300 * time.Second); s.Close() },
			metricstest.Snapshot{"k8s_informer_watch_timeouts_total": 1},
		},
		"before its time": {
			func(s *fakeapi.Stream, _ watch.Interface) { time.Sleep(298 * time.Second); s.Close() },
			metricstest.Snapshot{"k8s_informer_watch_disconnects_total{reason=server_close}": 1},
		},
		"at once": {
			func(s *fakeapi.Stream, _ watch.Interface) { s.Close() },
			metricstest.Snapshot{"k8s_informer_watch_disconnects_total{reason=very_short}": 1},
		},
		"at once after an event": {
			func(s *fakeapi.Stream, _ watch.Interface) { s.Send(watch.Bookmark, fakeapi.Bookmark(2)); s.Close() },
			metricstest.Snapshot{
				"k8s_informer_watch_disconnects_total{reason=server_close}": 1,
				"k8s_informer_watch_events_total{type=bookmark}":            1,
			},
		},
		"expired": {
			func(s *fakeapi.Stream, _ watch.Interface) {
				s.Fail(status(apierrors.NewResourceExpired("gone")))
				s.Close()
			},
			metricstest.Snapshot{
				"k8s_informer_watch_disconnects_total{reason=expired}": 1,
				"k8s_informer_watch_events_total{type=error}":          1,
				"k8s_informer_sync_errors_total{error_type=expired}":   1,
			},
		},
		"throttled": {
			func(s *fakeapi.Stream, _ watch.Interface) {
				s.Fail(status(apierrors.NewTooManyRequests("slow", 1)))
				s.Close()
			},
			metricstest.Snapshot{
				"k8s_informer_watch_disconnects_total{reason=throttled}": 1,
				"k8s_informer_watch_events_total{type=error}":            1,
				"k8s_informer_sync_errors_total{error_type=throttled}":   1,
			},
		},
		"internal error": {
			func(s *fakeapi.Stream, _ watch.Interface) {
				s.Fail(status(apierrors.NewInternalError(errTest)))
				s.Close()
			},
			metricstest.Snapshot{
				"k8s_informer_watch_disconnects_total{reason=error}": 1,
				"k8s_informer_watch_events_total{type=error}":        1,
				"k8s_informer_sync_errors_total{error_type=server}":  1,
			},
		},
		"garbage": {
			func(s *fakeapi.Stream, _ watch.Interface) { s.Fail(status(undecodable)); s.Close() },
			metricstest.Snapshot{
				"k8s_informer_watch_disconnects_total{reason=error}": 1,
				"k8s_informer_watch_events_total{type=error}":        1,
				"k8s_informer_sync_errors_total{error_type=decode}":  1,
			},
		},
		"a reset connection": {
			func(s *fakeapi.Stream, _ watch.Interface) {
				s.Fail(clientError("read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer"))
				s.Close()
			},
			metricstest.Snapshot{ // client-go itself makes the event
				"k8s_informer_watch_disconnects_total{reason=error}": 1,
				"k8s_informer_sync_errors_total{error_type=server}":  1,
			},
		},
		"stopped by the client": {
			func(_ *fakeapi.Stream, w watch.Interface) { w.Stop(); w.Stop() },
			metricstest.Snapshot{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				lw := informer.NewListerWatcher(obs, pods, server)
				w, err := lw.Watch(metav1.ListOptions{TimeoutSeconds: &seconds})
				if err != nil {
					t.Fatal(err)
				}
				go drain(w)
				before := metricstest.Take(t, reg)
				if before["k8s_informer_watch_connected"] != 1 || before["k8s_informer_watches_total"] != 1 {
					t.Errorf("the watch is open, but:\n%s", before)
				}
				stream := <-server.Streams
				c.end(stream, w)
				synctest.Wait()
				after := metricstest.Take(t, reg)
				c.want["k8s_informer_watch_duration_seconds_count"] = 1
				c.want["k8s_informer_watch_connected"] = -1
				after.Since(before, "k8s_informer_last_event", "k8s_informer_sync_lag", "k8s_informer_resource_version{").Equal(t, c.want)
				w.Stop()
				metricstest.Take(t, reg).Since(after).Equal(t, metricstest.Snapshot{})
			})
		})
	}
}

// A watch that cannot be opened is a disconnect (S6) and an error (S4), unless the client canceled it.
func TestWatchThatCannotBeOpened(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want metricstest.Snapshot
	}{
		"expired": {apierrors.NewResourceExpired("gone"), metricstest.Snapshot{
			"k8s_informer_watch_disconnects_total{reason=expired}": 1, "k8s_informer_sync_errors_total{error_type=expired}": 1,
		}},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{}, "", errTest), metricstest.Snapshot{
			"k8s_informer_watch_disconnects_total{reason=error}": 1, "k8s_informer_sync_errors_total{error_type=forbidden}": 1,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) { return nil, c.err }
			lw := informer.NewListerWatcher(obs, pods, server)
			before := metricstest.Take(t, reg)
			if w, err := lw.Watch(metav1.ListOptions{}); w != nil || !errors.Is(err, c.err) {
				t.Fatalf("Watch() = %v, %v", w, err)
			}
			metricstest.Take(t, reg).Since(before).Equal(t, c.want)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			before = metricstest.Take(t, reg)
			_, _ = lw.WatchWithContext(ctx, metav1.ListOptions{})
			metricstest.Take(t, reg).Since(before).Equal(t, metricstest.Snapshot{})
		})
	}
}

// client-go's REST client hides a broken connection behind an empty watch. It is a disconnect, but no watch was open.
func TestEmptyWatchWasNeverOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) { return watch.NewEmptyWatch(), nil }
		before := metricstest.Take(t, reg)
		w, err := informer.NewListerWatcher(obs, pods, server).Watch(metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		drain(w)
		w.Stop()
		metricstest.Take(t, reg).Since(before).Equal(t, metricstest.Take(t, reg).Since(before, "k8s_informer_watches_total", "k8s_informer_watch_duration"))
		if got := metricstest.Take(t, reg)["k8s_informer_watch_disconnects_total{reason=very_short}"]; got != 1 {
			t.Errorf("very_short = %v", got)
		}
	})
}

// The coverage gap is the time from the end of a watch until the next one is open (S14).
func TestCoverageGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		w, _ := lw.Watch(metav1.ListOptions{})
		go drain(w)
		time.Sleep(time.Minute)
		(<-server.Streams).Close()
		synctest.Wait()
		time.Sleep(7 * time.Second)
		if lag := metricstest.Take(t, reg)["k8s_informer_sync_lag_seconds"]; lag != 7 {
			t.Errorf("sync lag = %v with the watch down for 7 s", lag)
		}
		w, _ = lw.Watch(metav1.ListOptions{})
		defer w.Stop()
		if lag := metricstest.Take(t, reg)["k8s_informer_sync_lag_seconds"]; lag != 7 {
			t.Errorf("sync lag = %v before the watch has shown that it is up", lag)
		}
		time.Sleep(time.Second)
		s := metricstest.Take(t, reg)
		if s["k8s_informer_coverage_gap_seconds_count"] != 1 || s["k8s_informer_coverage_gap_seconds_sum"] != 7 || s["k8s_informer_sync_lag_seconds"] != 0 {
			t.Errorf("after a gap of 7 s:\n%s", s)
		}
	})
}

// A dead connection is detected late: the gap begins with the last receipt, or with the last check that found no missing changes
// (S12, S14). An error that the server sends is known immediately.
func TestCoverageGapOfADeadConnection(t *testing.T) {
	for text, want := range map[string]float64{
		"http2: client connection lost":                       52,
		"read tcp 10.0.0.1:1->10.0.0.2:443: no route to host": 52,
		"stream error: stream ID 5; INTERNAL_ERROR":           7,
		"invalid character '<'":                               7,
	} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			lw := informer.NewListerWatcher(obs, pods, server)
			w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
			go drain(w)
			time.Sleep(time.Minute)
			s := <-server.Streams
			s.Send(watch.Bookmark, fakeapi.Bookmark(5))
			synctest.Wait()
			alive := metricstest.Take(t, reg)["k8s_informer_last_event_timestamp_seconds"]
			time.Sleep(45 * time.Second)
			s.Fail(clientError(text))
			s.Close()
			synctest.Wait()
			if at := metricstest.Take(t, reg)["k8s_informer_last_event_timestamp_seconds"]; want == 52 && at != alive {
				t.Errorf("%s: client-go's own error counts as received", text)
			}
			time.Sleep(7 * time.Second)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_sync_lag_seconds": want})
			w, _ = lw.Watch(metav1.ListOptions{ResourceVersion: "5"})
			defer w.Stop()
			time.Sleep(time.Second)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{
				"k8s_informer_coverage_gap_seconds_count": 1, "k8s_informer_coverage_gap_seconds_sum": want, "k8s_informer_sync_lag_seconds": 0,
			})
		})
	}
}

// Attempts that fail are counted until a watch has been open for a second, regardless of lists in between (S40). The time at which it
// was opened is a metric (S34).
func TestConsecutiveFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		refuse := true
		server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) {
			if refuse {
				return nil, errTest
			}
			return nil, nil
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		failures := func(want float64) {
			t.Helper()
			if got, exists := metricstest.Take(t, reg)["k8s_informer_consecutive_failures"]; got != want || exists != (want > 0) {
				t.Errorf("%v consecutive failures (series exists: %t), want %v", got, exists, want)
			}
		}
		failures(0)
		for n := range 3 {
			_, _ = lw.List(metav1.ListOptions{})
			_, _ = lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
			failures(float64(n + 1))
		}
		refuse = false
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
		(<-server.Streams).Close() // very short
		drain(w)
		synctest.Wait()
		failures(4)
		w, _ = lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
		go drain(w)
		failures(4)
		time.Sleep(time.Minute)
		failures(0)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_watch_opened_timestamp_seconds": float64(time.Now().Add(-time.Minute).Unix())})
		(<-server.Streams).Close()
		synctest.Wait()
		failures(1)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_watch_opened_timestamp_seconds": 0})
	})
}

// The sync lag of an informer that may list but not watch, or cannot reopen its watch, is the age of its last list (S5).
func TestLagWithoutAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		forbidden := true
		server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) {
			if forbidden {
				return nil, apierrors.NewForbidden(schema.GroupResource{}, "", errTest)
			}
			return nil, nil
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		lag := func(want float64) {
			t.Helper()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_sync_lag_seconds": want})
		}
		attempt := func() watch.Interface {
			w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
			return w
		}
		attempt()
		time.Sleep(time.Second)
		lag(0) // there is no list yet
		for range 2 {
			_, _ = lw.List(metav1.ListOptions{})
			attempt()
			time.Sleep(20 * time.Second)
			lag(20)
		}
		forbidden = false
		w := attempt()
		time.Sleep(time.Minute)
		lag(0)
		w.Stop()
		time.Sleep(9 * time.Second)
		lag(9)
		_, _ = lw.List(metav1.ListOptions{})
		time.Sleep(3 * time.Second)
		lag(3)
		defer attempt().Stop()
		time.Sleep(time.Second)
		lag(0)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_coverage_gap_seconds_sum": 12})
	})
}
