package bench_test

import (
	"context"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// BenchmarkComparisons compares two ways to detect a changed object in a handler: reflect.DeepEqual, and comparing resource
// versions (B9). It reports the time of one comparison, and the share of the process's CPU time that comparisons take. The share is
// an upper bound, because the informer decodes nothing.
func BenchmarkComparisons(b *testing.B) { benchmark(b, comparisons) }

func comparisons(r *run) {
	before := pod("default", 1)
	before.ResourceVersion = "1"
	changed := before.DeepCopy()
	changed.ResourceVersion, changed.Status.Phase = "2", corev1.PodRunning
	n := r.size(200_000, 1000)
	for _, c := range []struct {
		name string
		now  *corev1.Pod
	}{
		{"same-object", before}, // as in a resync
		{"equal", before.DeepCopy()},
		{"changed", changed},
	} {
		r.report(each(n, func() bool { return reflect.DeepEqual(before, c.now) }), "deepequal-"+c.name+"-ns")
		r.report(each(n, func() bool { return before.ResourceVersion == c.now.ResourceVersion }), "version-"+c.name+"-ns")
	}
	// Updates that change only the version, as a heartbeat does: DeepEqual must compare the whole spec.
	deep := func(old, now *corev1.Pod) bool { return reflect.DeepEqual(old.Spec, now.Spec) }
	version := func(old, now *corev1.Pod) bool { return old.ResourceVersion == now.ResourceVersion }
	none := func(old, now *corev1.Pod) bool { return false }
	var spent [3]float64
	for round := range r.size(5, 1) {
		for i, compare := range []func(old, now *corev1.Pod) bool{none, version, deep} {
			if cpu := r.updates(compare).Seconds(); round == 0 || cpu < spent[i] {
				spent[i] = cpu
			}
		}
	}
	share := func(with float64) float64 { return 100 * max(0, with-spent[0]) / max(with, 1e-9) } // the clock may stand still in a small run
	r.report(share(spent[2]), "deepequal-cpu-%")
	r.report(share(spent[1]), "version-cpu-%")
}

// each returns the nanoseconds of one call.
func each(n int, f func() bool) float64 {
	equal := 0
	begin := time.Now()
	for range n {
		if f() {
			equal++
		}
	}
	took := time.Since(begin)
	if equal != 0 && equal != n {
		panic("a comparison is not stable")
	}
	return float64(took.Nanoseconds()) / float64(n)
}

// updates sends updates to an informer with a handler that compares, and returns the CPU time of the process.
func (r *run) updates(compare func(old, now *corev1.Pod) bool) time.Duration {
	n, objects := r.size(100_000, 200), 100
	server := fakeapi.NewServer()
	inf := cache.NewSharedIndexInformer(server, &corev1.Pod{}, 0, cache.Indexers{})
	var equal atomic.Int64
	var handled sync.WaitGroup
	handled.Add(objects + n)
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { handled.Done() },
		UpdateFunc: func(old, now any) {
			if compare(old.(*corev1.Pod), now.(*corev1.Pod)) {
				equal.Add(1)
			}
			handled.Done()
		},
	}); err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	var running sync.WaitGroup
	running.Go(func() { inf.RunWithContext(ctx) })
	stream := <-server.Streams
	events := make([]*corev1.Pod, objects+n)
	for i := range events {
		events[i] = pod("default", i%objects)
		events[i].ResourceVersion = strconv.Itoa(i + 2)
	}
	begin := budget.CPUTime(r)
	for i, p := range events {
		if i < objects {
			stream.Send(watch.Added, p)
		} else {
			stream.Send(watch.Modified, p)
		}
	}
	handled.Wait()
	spent := budget.CPUTime(r) - begin
	cancel()
	running.Wait()
	return spent
}
