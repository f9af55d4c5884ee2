package informer_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Objects of other namespaces, and those without a comparable version, count in lists, streaming lists and events (S27, S32).
func TestForeignAndUnversionedObjects(t *testing.T) {
	const foreign, unversioned = "k8s_informer_foreign_objects_total", "k8s_informer_unversioned_objects_total"
	in := func(namespace string, p *corev1.Pod) *corev1.Pod { p.Namespace = namespace; return p }
	opaque := func(p *corev1.Pod) *corev1.Pod { p.ResourceVersion = "a1"; return p }
	for _, c := range []struct {
		name, namespace string
		streaming       bool
		want            metricstest.Snapshot
	}{
		{"list", "shop", false, metricstest.Snapshot{foreign: 3, unversioned: 2}},
		{"streaming list", "shop", true, metricstest.Snapshot{foreign: 3, unversioned: 2}},
		{"all namespaces", "", false, metricstest.Snapshot{foreign: 0, unversioned: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := fakeapi.NewServer()
				server.StreamingLists = c.streaming
				first := []*corev1.Pod{in("shop", fakeapi.Pod("a", 1)), in("other", fakeapi.Pod("b", 2)), in("shop", opaque(fakeapi.Pod("c", 0)))}
				server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(5, first...), nil }
				id := informer.ID{Resource: "pods", Namespace: c.namespace}
				inf := informer.NewSharedIndexInformer(obs, id, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
				if _, ok := metricstest.Take(t, reg)[foreign]; ok != (c.namespace != "") {
					t.Errorf("%s exists from the start: %t", foreign, ok)
				}
				start(t, inf)
				stream := <-server.Streams
				if c.streaming {
					for _, p := range first {
						stream.Send(watch.Added, p)
					}
					stream.Send(watch.Bookmark, fakeapi.EndOfList(5))
				}
				stream.Send(watch.Added, in("shop", fakeapi.Pod("d", 6)))
				stream.Send(watch.Modified, in("other", fakeapi.Pod("b", 7)))
				stream.Send(watch.Deleted, in("other", opaque(fakeapi.Pod("b", 0))))
				stream.Send(watch.Bookmark, fakeapi.Bookmark(9)) // belongs to no namespace
				synctest.Wait()
				check(t, metricstest.Take(t, reg), c.want)
			})
		})
	}
}
