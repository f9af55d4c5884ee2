package faults

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// A CustomResourceDefinition is deleted while its objects are watched, and created again. The objects are deleted one
// by one, then the server closes the watch, and each later attempt is a 404.
func TestCRDDeleted(t *testing.T) {
	fault(t)
	client := dynamic.NewForConfigOrDie(stacktest.Config(t))
	crds := client.Resource(stack.Definitions)
	crd := stack.Definition("example.com", "Widget")
	create := func() {
		t.Helper()
		if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create()
	r := newDynamicRig(t, stacktest.Config(t), widgets)
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.startSynced() // possibly before the server serves it
	namespace := stacktest.Namespace(t)
	for _, name := range []string{"one", "two"} {
		widget := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
		}}
		if _, err := client.Resource(widgets).Namespace(namespace).Create(t.Context(), widget, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.waitFor("the objects", func(s metricstest.Snapshot) bool {
		return s[objects] == 2 && s[prefix+"handler_duration_seconds_count{handler=h}"] == 2
	})
	before := r.settle()
	if err := crds.Delete(t.Context(), crd.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone := r.waitFor("not found", func(s metricstest.Snapshot) bool { return s[syncFailed] >= before[syncFailed]+2 && isDisconnected(s) })
	r.is(gone, "synced", 1)
	r.is(gone, "watch_connected", 0)
	r.waitUntilExceeds("sync_lag_seconds", 1)
	create()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		lists := changed[syncFailed]
		return relisted("watch_failed").with(r.handled(2)).with(failedLists("not_found", lists)).with(changes{
			"watch_events_total{type=deleted}": 2, "objects": -2,
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=error}":        1, // the attempt to resume the watch
			// The definition may come back between the streaming list and the LIST that follows its failure.
			"list_pages_total":                        min(changed[prefix+"list_pages_total"], 1),
			"sync_errors_total{error_type=not_found}": lists + 1, // the same attempt, and each list after it
		})
	})
	r.waitedForBackoff(before, after)
	r.tookFailuresIn(after)
}
