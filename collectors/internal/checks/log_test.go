package checks_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The log names the informer and examples of objects, which no label does. An object that a consumer has damaged ends a check, and not
// the program.
func TestChecksInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			log     bytes.Buffer
			damaged atomic.Bool
		)
		damaged.Store(true)
		obs, _ := observertest.New(t, func(o *collectors.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		start(t, checks.Subject{
			Observer: core.Of(obs), Shared: checks.NewShared(), InformerType: "pods", WatchNamespace: "shop", Lister: onePod{},
			Intervals: core.Checks{Audit: time.Minute, Freshness: interval, Memory: time.Minute},
			Store:     damagedStore{emptyStore{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}, &damaged},
		})
		time.Sleep(5 * time.Minute)
		damaged.Store(false)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for _, want := range []string{
			`level=DEBUG msg="freshness check failed" informer_type=pods watch_namespace=shop err=rejected`,
			`level=DEBUG msg="memory estimate failed" informer_type=pods watch_namespace=shop err=damaged`,
			`level=DEBUG msg="audit failed" informer_type=pods watch_namespace=shop err="panic: damaged"`,
			`level=WARN msg="cache is inconsistent with the API server, confirmed by a second audit" informer_type=pods watch_namespace=shop ` +
				`differences=map[missing:1] resourceVersion=1 examples="[missing shop/web]"`,
		} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %s", want)
			}
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
}

// onePod is an API server with one Pod that rejects watches.
type onePod struct {
	cache.ListerWatcherWithContext
	// listed is called for each list, unless it is nil.
	listed func()
}

func (p onePod) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	if p.listed != nil {
		p.listed()
	}
	return &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "a", ResourceVersion: "1"}}},
	}, nil
}

func (onePod) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("rejected")
}

// damagedStore has an object that nothing can read, until it is replaced.
type damagedStore struct {
	emptyStore
	damaged *atomic.Bool
}

func (s damagedStore) List() []any {
	if s.damaged.Load() {
		panic("damaged")
	}
	return s.emptyStore.List()
}
