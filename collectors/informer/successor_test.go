package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// lenient is an informer that accepts handlers after its end, unlike client-go's.
type lenient struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

type lenientRegistration struct {
	cache.ResourceEventHandlerRegistration
}

func (l *lenient) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	l.handler = h
	return &lenientRegistration{}, nil
}

func (l *lenient) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }

// Actions on an informer that has ended do not affect the series of another informer with the same labels and handler names,
// whether that one was created before or after the end.
func TestSuccessor(t *testing.T) {
	for name, overlapping := range map[string]bool{"later": false, "overlapping": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				newInformer := func() (cache.SharedIndexInformer, *fakeapi.Server) {
					server := fakeapi.NewServer()
					return informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{
						Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
					}), server
				}
				first, _ := newInformer()
				taking := &lenient{SharedIndexInformer: cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})}
				lenientFirst := informer.Wrap(obs, pods, taking)
				registration := addHandler(t, first, slow)
				stopFirst, stopLenient := start(t, first), start(t, lenientFirst)
				end := func() {
					synctest.Wait()
					stopFirst()
					stopLenient()
				}
				if !overlapping {
					end()
				}
				second, server := newInformer()
				addHandler(t, second, slow)
				stopSecond := start(t, second)
				(<-server.Streams).Send(watch.Added, fakeapi.Pod("a", 2))
				time.Sleep(time.Minute)
				if overlapping {
					end()
				}
				before := metricstest.Take(t, reg)
				check(t, before, metricstest.Snapshot{
					"k8s_informer_handlers": 1, "k8s_informer_duplicates": 0,
					"k8s_informer_handler_duration_seconds_count{handler=slow}": 1,
				})

				if _, err := first.AddEventHandler(slow); err == nil {
					t.Error("client-go now accepts handlers after the end")
				}
				if err := first.RemoveEventHandler(registration); err != nil {
					t.Error(err)
				}
				late := addHandler(t, lenientFirst, slow)
				if !overlapping { // shared series exist until both informers have ended
					taking.handler.OnAdd(fakeapi.Pod("a", 2), false)
					_, _ = first.GetIndexer().ByIndex(cache.NamespaceIndex, "default")
					_, _, _ = first.GetIndexer().GetByKey("default/a")
				}
				if err := lenientFirst.RemoveEventHandler(late); err != nil {
					t.Error(err)
				}
				metricstest.Take(t, reg).Equal(t, before)
				late = addHandler(t, lenientFirst, slow)

				stopSecond()
				if s := metricstest.Take(t, reg); len(s) != 0 {
					t.Errorf("after the end of the second one:\n%s", s)
				}
				if err := lenientFirst.RemoveEventHandler(late); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The store of an informer that has ended can still be read, at the same cost.
func TestReadsAfterTheEnd(t *testing.T) {
	obs, _ := observertest.New(t)
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	inf := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: indexers})
	start(t, inf)()
	decorated, plain := inf.GetIndexer(), cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	read := func(i cache.Indexer) float64 {
		return testing.AllocsPerRun(100, func() { _, _ = i.ByIndex(cache.NamespaceIndex, "default") })
	}
	if with, without := read(decorated), read(plain); with > without+1 { // the name of the index, as a key
		t.Errorf("%v allocations for each read, %v without the decorator", with, without)
	}
}
