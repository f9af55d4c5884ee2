package objects

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

const someUID = "0189abcd-ef01-2345-6789-abcdef012345"

// UIDs and resource versions are the same after Transform, even if they are not UUIDs and numbers.
func TestIdentityIsKept(t *testing.T) {
	deleted := metav1.NewTime(time.Unix(1, 0))
	for _, uid := range []types.UID{
		someUID, "", "a", "0189ABCD-EF01-2345-6789-ABCDEF012345", "0189abcd-ef01-2345-6789-abcdef01234", "0189abcdeef01-2345-6789-abcdef012345",
		"0189abcd-ef01-2345-6789-abcdef01234g", "00000000-0000-0000-0000-000000000000",
	} {
		for _, version := range []string{"1", "0", "", "007", "-1", "+1", "1a", fmt.Sprint(uint64(math.MaxUint64)), "18446744073709551616"} {
			for _, deletion := range []*metav1.Time{nil, &deleted} {
				kept, err := Transform(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version, DeletionTimestamp: deletion, Finalizers: []string{"f"}}})
				if err != nil {
					t.Fatal(err)
				}
				o := kept.(metav1.Object)
				if o.GetUID() != uid || o.GetResourceVersion() != version || o.GetDeletionTimestamp() != deletion || (len(o.GetFinalizers()) == 1) != (deletion != nil) {
					t.Errorf("UID %q, version %q, deletion %v: got %q, %q, %v, %v", uid, version, deletion, o.GetUID(), o.GetResourceVersion(), o.GetDeletionTimestamp(), o.GetFinalizers())
				}
			}
		}
	}
	if size := unsafe.Sizeof(keptMeta{}); size > 64 {
		t.Errorf("an object has %d bytes, and is allocated in the next larger size class", size)
	}
}

// BenchmarkMemory reports the memory of an object in the store of an informer, its key included.
func BenchmarkMemory(b *testing.B) {
	const objects = 100_000
	for b.Loop() {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		before := liveHeap()
		for i := range objects {
			o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("web-%08d-6f7c9d7b8c-x2x9k", i), Namespace: fmt.Sprint("namespace-", i%100), Generation: 1,
				UID: types.UID(fmt.Sprintf("%s%08d", someUID[:28], i)), ResourceVersion: fmt.Sprint(1_000_000 + i),
			}}
			kept, err := Transform(o)
			if err != nil {
				b.Fatal(err)
			}
			if err := store.Add(kept); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(liveHeap()-before)/objects, "B/object")
		runtime.KeepAlive(store)
	}
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
