package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

var streamingList = metav1.ListOptions{
	AllowWatchBookmarks: true, SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
}

// A LIST and a streaming list lead to the same metrics (S2).
func TestListAndStreamingListCountTheSame(t *testing.T) {
	want := metricstest.Snapshot{
		"k8s_informer_list_duration_seconds_count":                 1,
		"k8s_informer_list_items_count":                            1,
		"k8s_informer_relists_total{reason=initial}":               1,
		"k8s_informer_sync_duration_seconds_count{result=success}": 1,
		"k8s_informer_last_sync_duration_seconds":                  3,
		"k8s_informer_synced":                                      1,
		"k8s_informer_objects":                                     2,
		"k8s_informer_watches_total":                               1,
		"k8s_informer_watch_connected":                             1,
		"k8s_informer_resource_version{stage=received}":            5,
	}
	t.Run("list", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			pages := 0
			server.OnList = func(o metav1.ListOptions) (runtime.Object, error) {
				pages++
				time.Sleep(time.Duration(pages) * time.Second)
				list := fakeapi.PodList(5, fakeapi.Pod("a", 1))
				if pages == 1 {
					list.Continue = "more"
				}
				return list, nil
			}
			lw := informer.NewListerWatcher(obs, pods, server)
			before := metricstest.Take(t, reg)
			for _, o := range []metav1.ListOptions{{}, {Continue: "more"}} {
				if _, err := lw.List(o); err != nil {
					t.Fatal(err)
				}
			}
			w, _ := lw.Watch(metav1.ListOptions{})
			got := metricstest.Take(t, reg).Since(before, "k8s_informer_last_event")
			if pages := got["k8s_informer_list_pages_total"]; pages != 2 {
				t.Errorf("%v pages", pages)
			}
			delete(got, "k8s_informer_list_pages_total")
			got.Equal(t, want)
			w.Stop()
			if sum := metricstest.Take(t, reg)["k8s_informer_list_items_sum"]; sum != 2 {
				t.Errorf("%v items in two pages of one", sum)
			}
		})
	})
	t.Run("streaming list", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			lw := informer.NewListerWatcher(obs, pods, server)
			before := metricstest.Take(t, reg)
			w, _ := lw.Watch(streamingList)
			go drain(w)
			stream := <-server.Streams
			time.Sleep(3 * time.Second)
			for _, p := range []string{"a", "b", "c"} {
				stream.Send(watch.Added, fakeapi.Pod(p, 1))
			}
			stream.Send(watch.Modified, fakeapi.Pod("a", 3))
			stream.Send(watch.Deleted, fakeapi.Pod("c", 4))
			synctest.Wait()
			if s := metricstest.Take(t, reg); s["k8s_informer_watch_connected"] != 0 || s["k8s_informer_synced"] != 0 {
				t.Errorf("the state is not complete, but:\n%s", s)
			}
			stream.Send(watch.Bookmark, fakeapi.EndOfList(5))
			synctest.Wait()
			metricstest.Take(t, reg).Since(before, "k8s_informer_last_event").Equal(t, want)
			stream.Send(watch.Added, fakeapi.Pod("d", 6))
			synctest.Wait()
			if s := metricstest.Take(t, reg); s["k8s_informer_watch_events_total{type=added}"] != 1 || s["k8s_informer_objects"] != 3 {
				t.Errorf("after one more object:\n%s", s)
			}
			w.Stop()
		})
	})
}

// A list is one attempt, regardless of its pages: after an expired continue token, client-go's pager starts over.
func TestExpiredContinuationIsNoFailedSync(t *testing.T) {
	obs, reg := observertest.New(t)
	server := fakeapi.NewServer()
	calls := 0
	server.OnList = func(o metav1.ListOptions) (runtime.Object, error) {
		calls++
		switch calls {
		case 1:
			list := fakeapi.PodList(5, fakeapi.Pod("a", 1))
			list.Continue = "more"
			return list, nil
		case 2:
			return nil, apierrors.NewResourceExpired("the token is too old")
		}
		return fakeapi.PodList(6, fakeapi.Pod("a", 1), fakeapi.Pod("b", 2)), nil
	}
	lw := informer.NewListerWatcher(obs, pods, server)
	before := metricstest.Take(t, reg)
	_, _ = lw.List(metav1.ListOptions{})
	_, _ = lw.List(metav1.ListOptions{Continue: "more"})
	_, _ = lw.List(metav1.ListOptions{})
	metricstest.Take(t, reg).Since(before, "k8s_informer_last_", "k8s_informer_sync_lag").Equal(t, metricstest.Snapshot{
		"k8s_informer_list_duration_seconds_count":                 1,
		"k8s_informer_list_items_count":                            1,
		"k8s_informer_relists_total{reason=initial}":               1,
		"k8s_informer_sync_duration_seconds_count{result=success}": 1,
		"k8s_informer_sync_errors_total{error_type=expired}":       1,
		"k8s_informer_synced":                                      1,
		"k8s_informer_objects":                                     2,
		"k8s_informer_list_pages_total":                            2,
		"k8s_informer_resource_version{stage=received}":            6,
	})
}

// The duration of a sync includes its own failed attempts (S2), but not those of the previous sync. Each failed attempt is an
// error (S4).
func TestFailedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		failures := 2
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			time.Sleep(time.Second)
			if failures > 0 {
				failures--
				return nil, apierrors.NewForbidden(schema.GroupResource{}, "", errTest)
			}
			return fakeapi.PodList(5), nil
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		for range 3 {
			_, _ = lw.List(metav1.ListOptions{})
			time.Sleep(10 * time.Second)
		}
		_, _ = lw.List(metav1.ListOptions{})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		failures = 1
		_, _ = lw.ListWithContext(ctx, metav1.ListOptions{}) // canceled by the client
		s := metricstest.Take(t, reg)
		for series, want := range (metricstest.Snapshot{
			"k8s_informer_sync_duration_seconds_count{result=error}":   2,
			"k8s_informer_sync_duration_seconds_sum{result=error}":     2,
			"k8s_informer_sync_errors_total{error_type=forbidden}":     2,
			"k8s_informer_sync_duration_seconds_count{result=success}": 2,
			"k8s_informer_sync_duration_seconds_sum{result=success}":   23 + 1,
			"k8s_informer_last_sync_duration_seconds":                  1,
			"k8s_informer_list_duration_seconds_sum":                   1 + 1,
		}) {
			if s[series] != want {
				t.Errorf("%s = %v, want %v", series, s[series], want)
			}
		}
	})
}

// A streaming list that ends before the bookmark is a failed list and not a watch.
func TestStreamingListThatBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		end       func(*fakeapi.Stream)
		errorType string
	}{
		"closed": {func(s *fakeapi.Stream) { s.Close() }, "server"},
		"error":  {func(s *fakeapi.Stream) { s.Fail(status(apierrors.NewResourceExpired("gone"))); s.Close() }, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				before := metricstest.Take(t, reg)
				w, _ := informer.NewListerWatcher(obs, pods, server).Watch(streamingList)
				go drain(w)
				stream := <-server.Streams
				stream.Send(watch.Added, fakeapi.Pod("a", 1))
				c.end(stream)
				synctest.Wait()
				w.Stop()
				metricstest.Take(t, reg).Since(before, "k8s_informer_last_event", "k8s_informer_watch_events_total{type=error}").Equal(t, metricstest.Snapshot{
					"k8s_informer_sync_duration_seconds_count{result=error}":         1,
					"k8s_informer_sync_errors_total{error_type=" + c.errorType + "}": 1,
				})
			})
		})
	}
}

// Each complete list is counted once, by its reason.
func TestRelistReasons(t *testing.T) {
	end := func(s *fakeapi.Stream, err *apierrors.StatusError) { s.Fail(status(err)); s.Close() }
	undecodable := apierrors.NewGenericServerResponse(500, "GET", schema.GroupResource{}, "", "bad", 0, true)
	undecodable.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "ClientWatchDecoding"}}
	for reason, cause := range map[string]func(s *fakeapi.Stream, w watch.Interface){
		"expired":          func(s *fakeapi.Stream, _ watch.Interface) { end(s, apierrors.NewResourceExpired("gone")) },
		"watch_failed":     func(s *fakeapi.Stream, _ watch.Interface) { end(s, apierrors.NewInternalError(errTest)) },
		"decode":           func(s *fakeapi.Stream, _ watch.Interface) { end(s, undecodable) },
		"resync_requested": func(_ *fakeapi.Stream, w watch.Interface) { w.Stop() },
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				lw := informer.NewListerWatcher(obs, pods, server)
				_, _ = lw.List(metav1.ListOptions{})
				w, _ := lw.Watch(metav1.ListOptions{})
				go drain(w)
				cause(<-server.Streams, w)
				synctest.Wait()
				before := metricstest.Take(t, reg)
				_, _ = lw.List(metav1.ListOptions{})
				after := metricstest.Take(t, reg).Since(before)
				if after["k8s_informer_relists_total{reason="+reason+"}"] != 1 || after["k8s_informer_list_items_count"] != 1 {
					t.Errorf("after the relist:\n%s", after)
				}
				w.Stop()
			})
		})
	}
	t.Run("fallback", func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) {
			return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.Watch(streamingList)
		_, _ = lw.List(metav1.ListOptions{})
		if s := metricstest.Take(t, reg); s["k8s_informer_relists_total{reason=fallback}"] != 1 || s["k8s_informer_relists_total{reason=initial}"] != 0 {
			t.Errorf("after the fallback:\n%s", s)
		}
	})
}

// Lists at an exact version come from audits and from client-go's consistency detector: they do not fill the cache.
func TestExactListsAreNotCounted(t *testing.T) {
	obs, reg := observertest.New(t)
	lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
	before := metricstest.Take(t, reg)
	if _, err := lw.List(metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); err != nil {
		t.Fatal(err)
	}
	metricstest.Take(t, reg).Since(before).Equal(t, metricstest.Snapshot{})
}
