package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The time of a resync is exact, and stays the same in each scrape (P6).
func TestLastResync(t *testing.T) {
	obs, _ := observertest.New(t)
	h := informer.NewListerWatcher(obs, pods, fakeapi.NewServer()).Decorate("h", cache.ResourceEventHandlerFuncs{})
	last := func() time.Time { return informer.Statuses(obs)[0].Handlers[0].LastResync }
	if !last().IsZero() {
		t.Errorf("%v before the first resync", last())
	}
	p := fakeapi.Pod("a", 1)
	begin := time.Now()
	h.OnUpdate(p, p)
	end := time.Now()
	at := last()
	if at.Before(begin.Round(0)) || at.After(end.Round(0)) {
		t.Errorf("%v, want between %v and %v", at, begin, end)
	}
	for range 1000 {
		if again := last(); !again.Equal(at) {
			t.Fatalf("%v became %v", at, again)
		}
	}
}

// Of several handlers with the same name, the resync that is longest ago is reported, in either order of the handlers, and none before
// each has had one.
func TestLastResyncOfHandlersWithTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
		p := fakeapi.Pod("a", 1)
		var handlers [2]cache.ResourceEventHandler
		var at [2]time.Time
		for i := range handlers {
			handlers[i] = lw.Decorate("h", cache.ResourceEventHandlerFuncs{})
		}
		for _, i := range []int{0, 1, 0, 1} {
			time.Sleep(time.Minute)
			handlers[i].OnUpdate(p, p)
			at[i] = time.Now()
			oldest := at[0]
			if at[1].Before(oldest) {
				oldest = at[1]
			}
			got, exists := metricstest.Take(t, reg)["k8s_informer_handler_last_resync_timestamp_seconds{handler=h}"]
			if exists == oldest.IsZero() || exists && got != float64(oldest.Unix()) {
				t.Errorf("resyncs at %v: %v is reported (%t)", at, got, exists)
			}
		}
	})
}

// A watch has an opening time while it is open (S34), and a duration when it has ended. A list counts as the last event, and
// every complete list but the first is a relist.
func TestWatchOpenedAndRelists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		check := func(when string, opened time.Time, relists uint64) {
			t.Helper()
			s := informer.Statuses(obs)[0]
			if !s.WatchOpened.Equal(opened) || s.Relists != relists || s.Connected == opened.IsZero() {
				t.Errorf("%s: opened %v (%t), %d relists; want %v, %d", when, s.WatchOpened, s.Connected, s.Relists, opened, relists)
			}
		}
		list := func() {
			t.Helper()
			if _, err := lw.List(metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
			if at := informer.Statuses(obs)[0].LastEvent; !at.Equal(time.Now()) {
				t.Errorf("a list at %v is the last event at %v", time.Now(), at)
			}
		}
		check("at first", time.Time{}, 0)
		list()
		check("after the first list", time.Time{}, 0)
		for n := range 2 {
			time.Sleep(time.Minute)
			opened := time.Now()
			w, err := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			check("while open", opened, uint64(n))
			w.Stop()
			check("when it has ended", time.Time{}, uint64(n))
			list()
			check("after another list", time.Time{}, uint64(n+1))
			if open := metricstest.Take(t, reg)["k8s_informer_watch_duration_seconds_sum"]; open != 3600*float64(n+1) {
				t.Errorf("%d watches of an hour were open for %v s", n+1, open)
			}
		}
	})
}

// Of several informers with the same labels, the watch that was opened first is reported, in either order of the informers.
func TestFirstWatchOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		informers := make([]*informer.ListerWatcher, 2)
		for i := range informers {
			informers[i] = informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
		}
		opened := func() float64 {
			return metricstest.Take(t, reg)["k8s_informer_watch_opened_timestamp_seconds"]
		}
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			var watches []watch.Interface
			time.Sleep(time.Minute)
			first := float64(time.Now().Unix())
			for _, i := range order {
				w, err := informers[i].Watch(metav1.ListOptions{ResourceVersion: "1"})
				if err != nil {
					t.Fatal(err)
				}
				watches = append(watches, w)
				if got := opened(); got != first {
					t.Errorf("order %v: opened at %v, want %v", order, got, first)
				}
				time.Sleep(time.Minute)
			}
			for _, w := range watches {
				w.Stop()
			}
		}
	})
}

// The lag of an ID is the longest of its informers, regardless of other IDs.
func TestSyncLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		elsewhere := pods
		elsewhere.Namespace = "elsewhere"
		// lose creates an informer that has listed and has no watch.
		lose := func(id informer.ID) {
			t.Helper()
			if _, err := informer.NewListerWatcher(obs, id, fakeapi.NewServer()).List(metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, want, wantElsewhere time.Duration) {
			t.Helper()
			if lag, other := informer.SyncLag(obs, pods), informer.SyncLag(obs, elsewhere); lag != want || other != wantElsewhere {
				t.Errorf("%s: %v, and %v elsewhere; want %v, %v", when, lag, other, want, wantElsewhere)
			}
		}
		check("no informer", 0, 0)
		lose(elsewhere)
		time.Sleep(time.Hour)
		lose(pods)
		time.Sleep(time.Minute)
		check("one of each", time.Minute, time.Hour+time.Minute)
		lose(pods)
		time.Sleep(time.Second)
		check("another one, which lags less", time.Minute+time.Second, time.Hour+time.Minute+time.Second)
	})
}

// The handled version is that of the slowest handler, whichever was registered first.
func TestHandledVersion(t *testing.T) {
	fast := informer.NamedHandler("fast", cache.ResourceEventHandlerFuncs{})
	for name, handlers := range map[string][]cache.ResourceEventHandler{
		"slow first": {slow, fast, fast}, "slow last": {fast, fast, slow}, "slow between": {fast, slow, fast},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, _ := observertest.New(t)
				server := fakeapi.NewServer()
				inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
				for _, h := range handlers {
					addHandler(t, inf, h)
				}
				stop := start(t, inf)
				defer stop()
				stream := <-server.Streams
				for version := 11; version <= 13; version++ {
					stream.Send(watch.Modified, fakeapi.Pod("a", version))
				}
				time.Sleep(500 * time.Millisecond) // slow takes a second for each
				for _, want := range []uint64{0, 11, 12, 13, 13} {
					if s := informer.Statuses(obs)[0]; s.Handled != want || s.Received != 13 || s.Stored != 13 {
						t.Errorf("handled %d, want %d; received %d, stored %d, want 13", s.Handled, want, s.Received, s.Stored)
					}
					time.Sleep(time.Second)
				}
			})
		})
	}
}
