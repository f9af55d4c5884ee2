package reads_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/informer-exporter/informer-exporter/collectors/internal/reads"
)

func TestConcurrentReadsAreAllCounted(t *testing.T) {
	const readers, each = 64, 2000
	c := reads.NewCounter()
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for i := range each {
				if i%4 == 0 {
					c.Miss()
				} else {
					c.Hit()
				}
			}
		})
	}
	wg.Wait()
	if hits, misses := c.Hits(), c.Misses(); hits != readers*each*3/4 || misses != readers*each/4 {
		t.Errorf("%d hits and %d misses; want %d and %d", hits, misses, readers*each*3/4, readers*each/4)
	}
}

func TestStripesAreCacheLines(t *testing.T) {
	onHeap = reads.NewCounter()
	if at := uintptr(unsafe.Pointer(onHeap)); at%64 != 0 {
		t.Errorf("a counter is at %#x, which is not the start of a cache line", at)
	}
}

// onHeap keeps a counter on the heap.
var onHeap *reads.Counter

// Goroutines that all used one stripe would wait for each other.
func TestGoroutinesUseDifferentStripes(t *testing.T) {
	const readers = 32
	c := reads.NewCounter()
	var started, wg sync.WaitGroup
	started.Add(readers)
	for range readers {
		wg.Go(func() {
			started.Done()
			started.Wait() // their stacks exist at the same time
			c.Hit()
		})
	}
	wg.Wait()
	if used := reads.Used(c); used < 4 {
		t.Errorf("%d goroutines use %d stripes", readers, used)
	}
}
