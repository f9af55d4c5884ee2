package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The newest time in managedFields is used. Objects without managedFields, unstructured objects and terminating objects are
// excluded; a deletion is not recorded in managedFields.
func TestPropagation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		w, _ := informer.NewListerWatcher(obs, pods, server).Watch(metav1.ListOptions{})
		defer w.Stop()
		go drain(w)
		stream := <-server.Streams
		at := func(ago time.Duration) metav1.ManagedFieldsEntry {
			written := metav1.NewTime(time.Now().Add(-ago))
			return metav1.ManagedFieldsEntry{Time: &written}
		}
		p := fakeapi.Pod("a", 2)
		p.ManagedFields = []metav1.ManagedFieldsEntry{at(time.Hour), at(4 * time.Second), {}}
		early := fakeapi.Pod("early", 3)
		early.ManagedFields = []metav1.ManagedFieldsEntry{at(-time.Second)}
		deleting := fakeapi.Pod("deleting", 5)
		deleting.ManagedFields = p.ManagedFields
		deleting.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		timeless := fakeapi.Pod("timeless", 6)
		timeless.ManagedFields = []metav1.ManagedFieldsEntry{{}}
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetManagedFields(p.ManagedFields)
		stream.Send(watch.Added, p)
		stream.Send(watch.Modified, early) // by a clock that is ahead of the local one
		stream.Send(watch.Deleted, p)
		stream.Send(watch.Modified, fakeapi.Pod("b", 4))
		stream.Send(watch.Added, deleting)
		stream.Send(watch.Modified, deleting)
		stream.Send(watch.Modified, timeless)
		stream.Send(watch.Modified, u)
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_propagation_seconds_count": 2, "k8s_informer_propagation_seconds_sum": 4,
		})
	})
}

// A real API server writes no managedFields for a deletion that is blocked by a finalizer, and none for an object
// without fields to manage.
func TestPropagationOfADeletion(t *testing.T) {
	namespace := stacktest.Namespace(t)
	client := kubernetes.NewForConfigOrDie(stacktest.Config(t))
	obs, reg := observertest.New(t)
	f := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: namespace})
	f.Core().V1().ConfigMaps().Informer()
	stop := make(chan struct{})
	f.Start(stop)
	defer f.Shutdown()
	defer close(stop)
	f.WaitForCacheSync(stop)
	events := func(added, modified, deleted float64) {
		t.Helper()
		metricstest.Await(t, reg, metricstest.Snapshot{
			"k8s_informer_watch_events_total{type=added}": added, "k8s_informer_watch_events_total{type=modified}": modified,
			"k8s_informer_watch_events_total{type=deleted}": deleted, "k8s_informer_propagation_seconds_count": 1,
		})
	}
	metricstest.Await(t, reg, metricstest.Snapshot{"k8s_informer_watch_connected": 1})

	maps := client.CoreV1().ConfigMaps(namespace)
	for _, m := range []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}}, Data: map[string]string{"a": "b"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "empty"}},
	} {
		if _, err := maps.Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	events(2, 0, 0)
	if err := maps.Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	events(2, 1, 0)
	if _, err := maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	events(2, 1, 1)
}
