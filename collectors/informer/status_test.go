package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The time of a resync is exact, and stays the same in each scrape.
func TestLastResync(t *testing.T) {
	obs, _ := observertest.New(t)
	h := informer.NewListerWatcher(obs, pods, fakeapi.NewServer()).Decorate("h", cache.ResourceEventHandlerFuncs{})
	last := func() time.Time { return informer.List(obs)[0].Handlers[0].LastResync }
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

// A watch has an opening time while it is open, and every complete list but the first is a relist.
func TestWatchOpenedAndRelists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		check := func(when string, opened time.Time, relists uint64) {
			t.Helper()
			s := informer.List(obs)[0]
			if !s.WatchOpened.Equal(opened) || s.Relists != relists || s.Connected == opened.IsZero() {
				t.Errorf("%s: opened %v (%t), %d relists; want %v, %d", when, s.WatchOpened, s.Connected, s.Relists, opened, relists)
			}
		}
		list := func() {
			t.Helper()
			if _, err := lw.List(metav1.ListOptions{}); err != nil {
				t.Fatal(err)
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
		}
	})
}

// The lag of an ID is the longest of its informers, and independent of others.
func TestSyncLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		elsewhere := pods
		elsewhere.Namespace = "elsewhere"
		// lose has an informer that has had no watch since it listed.
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
