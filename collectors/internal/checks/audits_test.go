package checks_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A list without an end whose pages are just fast enough does not keep an audit running: it fails after ten minutes (S11).
func TestEndlessSlowAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Hour
		obs, _ := observertest.New(t)
		own := watch.NewRaceFreeFake()
		connection := stream.New(obs.Core(), stream.NewMetrics(obs.Core().Metrics, &core.Gate{}, "a", "*"))
		opened, err := connection.Decorate(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return own, nil
		}}).WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Stop()
		pages := &slowPages{begun: make(chan time.Time, 1)}
		c := checks.New(checks.Subject{
			Observer: obs.Core(), Shared: checks.NewShared(), Metrics: checks.NewMetrics(obs.Core().Metrics, &core.Gate{}, "a", "*"), InformerType: "a",
			Intervals: core.Checks{Audit: interval}, Connection: connection, Lister: pages, Store: emptyStore{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)},
		})
		synced := make(chan struct{})
		close(synced)
		defer c.Start(t.Context(), synced)()
		begun := <-pages.begun
		for c.AuditStatus().Result == "" && time.Since(begun) < interval {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if s := c.AuditStatus(); s.Result != checks.AuditError || s.At.Sub(begun) > 11*time.Minute {
			t.Errorf("result %q %v after the start of the list, want %q after ten minutes", s.Result, time.Since(begun), checks.AuditError)
		}
		if n := pages.n.Load(); n < 2 {
			t.Errorf("%d pages, want more than one", n)
		}
	})
}

// slowPages lists pages that always have a successor, each just within the timeout of a page.
type slowPages struct {
	cache.ListerWatcherWithContext // not called
	n                              atomic.Int64
	begun                          chan time.Time // receives the time of the first request
}

func (p *slowPages) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	n := p.n.Add(1)
	if n == 1 {
		p.begun <- time.Now()
	}
	page := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1", Continue: strconv.FormatInt(n, 10)}}
	select {
	case <-time.After(29 * time.Second):
		return page, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// emptyStore is a store of version 1.
type emptyStore struct{ cache.Indexer }

func (emptyStore) LastStoreSyncResourceVersion() string { return "1" }
