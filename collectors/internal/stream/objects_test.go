package stream_test

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A list that client-go received but did not transform does not affect the count of objects that the next list loses because the
// Transform returned nil for one of them (S19).
func TestObjectsLostAfterAnAbandonedList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := observertest.New(t)
		obs := core.Of(o)
		c := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "*"), "pods", "*"))
		var lost []int
		c.OnListLost(func(objects int) { lost = append(lost, objects) })
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(10, fakeapi.Pod("a", 7), fakeapi.Pod("b", 8)), nil
		}
		lw := c.Decorate(server)
		if _, err := lw.List(metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := lw.Watch(metav1.ListOptions{SendInitialEvents: ptr.To(true)})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		s := <-server.Streams
		s.Send(watch.Added, fakeapi.Pod("a", 7))
		s.Send(watch.Added, fakeapi.Pod("b", 8))
		s.Send(watch.Added, fakeapi.Pod("c", 9))
		synctest.Wait()
		c.TransformFailed() // a, on receipt
		c.Transformed(8, false)
		c.Transformed(9, false)
		s.Send(watch.Bookmark, fakeapi.EndOfList(10))
		synctest.Wait()
		c.Transformed(8, false) // the whole list
		c.Transformed(9, true)
		if len(lost) != 1 || lost[0] != 1 {
			t.Errorf("objects lost: %v, want b", lost)
		}
	})
}

// A list that client-go does not store, because the Transform failed for an object, loses none of the others.
func TestNoObjectsLostByAListThatFails(t *testing.T) {
	o, _ := observertest.New(t)
	obs := core.Of(o)
	c := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "*"), "pods", "*"))
	c.OnListLost(func(objects int) { t.Errorf("%d objects lost", objects) })
	server := fakeapi.NewServer()
	server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
		return fakeapi.PodList(10, fakeapi.Pod("a", 7), fakeapi.Pod("b", 8), fakeapi.Pod("c", 9)), nil
	}
	if _, err := c.Decorate(server).List(metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	c.TransformFailed()
	c.Transformed(8, true)
	c.Transformed(9, false)
}
