package footprint

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// An estimate has all values of the label part, and no others.
func TestParts(t *testing.T) {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	observertest.Values(t, catalog.InformerCacheBytes.Metric, "part", slices.Collect(maps.Keys(Estimate(store)))...)
}

// Objects that are not of the API, damaged or cyclic are no reason to fail.
func TestStrangeObjects(t *testing.T) {
	type node struct {
		Next *node
		Any  any
		F    func()
	}
	cyclic := &node{}
	cyclic.Next, cyclic.Any = cyclic, []any{cyclic, map[any]any{cyclic: cyclic, nil: nil}}
	self := map[string]any{}
	self["self"] = self
	deep := any("x")
	for range 10_000 {
		deep = []any{deep}
	}
	for _, object := range []any{
		nil, 7, "text", (*corev1.Pod)(nil), new(string), cyclic, &unstructured.Unstructured{}, cache.DeletedFinalStateUnknown{},
		&unstructured.Unstructured{Object: self}, &unstructured.Unstructured{Object: map[string]any{"spec": deep, "metadata": "text", "status": nil, "f": func() {}}},
	} {
		b := Bytes{}
		b.Add(object)
		for part, n := range b {
			if n < 0 || n > 1<<20 {
				t.Errorf("%T: %s is %v", object, part, n)
			}
		}
	}
}
