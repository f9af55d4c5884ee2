package faults

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// testLabel selects the objects of one test in all namespaces.
const testLabel = "example.com/test"

// labeled limits a ListerWatcher to objects with the label of a test.
func labeled(lw capable, test string) capable {
	inner, selector := lw.ListerWatcherWithContext, testLabel+"="+test
	return capable{noStreamingLists: lw.noStreamingLists, ListerWatcherWithContext: &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = selector
			return inner.ListWithContext(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = selector
			return inner.WatchWithContext(ctx, o)
		},
	}}
}

// S27: an informer for one namespace gets objects of another one, in its list and as an event.
func TestForeignObjects(t *testing.T) {
	fault(t)
	r := newRig(t, options{unfiltered: true})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	other := stacktest.NamespaceIn(t, stacktest.Config(t))
	create := func(namespace, name string) {
		t.Helper()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{testLabel: r.namespace}}, Data: marked}
		if _, err := r.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(other, "listed")
	before := r.startSynced()
	r.is(before, "foreign_objects_total", 1)
	create(r.namespace, "own")
	create(other, "watched")
	r.expect(before, r.received(2).with(changes{"foreign_objects_total": 1}))
}
