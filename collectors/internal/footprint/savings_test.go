package footprint

import (
	"math"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What a cache without managedFields, of metadata, or of both would save is within 15 % of what the heap has less.
func TestSavingsAgainstHeap(t *testing.T) {
	const n = 1000
	stored := func(kept func(*corev1.Pod) any) (cache.Indexer, float64) {
		before := heap()
		store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		for i := range n {
			if err := store.Add(kept(pod(i))); err != nil {
				t.Fatal(err)
			}
		}
		return store, heap() - before
	}
	stripped := func(p *corev1.Pod) *corev1.Pod { p.ManagedFields = nil; return p }
	metadata := func(p *corev1.Pod) any { return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta} }
	whole, wholeHeap := stored(func(p *corev1.Pod) any { return p })
	estimate := Estimate(whole)
	withoutManagedFields, metadataOnly := estimate.Savings()
	for name, c := range map[string]struct {
		kept   func(*corev1.Pod) any
		saving float64
	}{
		"without managedFields": {func(p *corev1.Pod) any { return stripped(p) }, withoutManagedFields},
		"metadata only":         {metadata, metadataOnly},
		"both":                  {func(p *corev1.Pod) any { return metadata(stripped(p)) }, withoutManagedFields + metadataOnly},
	} {
		less, lessHeap := stored(c.kept)
		saved := wholeHeap - lessHeap
		t.Logf("%s: %.0f of %.0f KiB saved, estimated %.0f KiB", name, saved/1024, wholeHeap/1024, c.saving/1024)
		if math.Abs(c.saving/saved-1) > .15 {
			t.Errorf("%s: %.0f bytes saved, estimated %.0f", name, saved, c.saving)
		}
		runtime.KeepAlive(less)
	}
	runtime.KeepAlive(whole)
}
