package informers

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// Only changes of definitions are reported, not those of other objects.
func TestChangedDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := exportertest.MetadataClient(t)
		factory := newFactory(t, prometheus.NewRegistry(), client)
		var changes atomic.Int64
		factory.OnDefinitionsChanged = func() { changes.Add(1) }
		set := NewSet(factory.New)
		definitions := kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
		if err := set.Replace(append(subjectsOf("pods"), Spec{Kind: definitions})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer set.Wait()
		defer cancel()
		set.Run(ctx)
		time.Sleep(time.Second)
		for kind, want := range map[kinds.Kind]int64{{Version: "v1", Resource: "pods", Namespaced: true}: 0, definitions: 1} {
			changes.Store(0)
			if err := client.Tracker().Create(kind.GVR(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, ""); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := changes.Load(); n != want {
				t.Errorf("%s: %d changes, want %d", kind.Type(), n, want)
			}
		}
	})
}

// If an API server ignores the selector of a shard, lists and watches still have only the objects of the shard.
func TestObjectsOfOtherShards(t *testing.T) {
	pods := kinds.Kind{Version: "v1", Resource: "pods", Namespaced: true}
	spec := Spec{Kind: pods, Shard: sharding.Shard{Ordinal: 0, Total: 2}}
	object := func(selected bool) *metav1.PartialObjectMetadata {
		for n := 0; ; n++ {
			o := &metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("selected-", selected), UID: types.UID(fmt.Sprint(n))},
			}
			if yes, err := spec.Shard.Selector().Matches(o); err != nil {
				t.Fatal(err)
			} else if yes == selected {
				return o
			}
		}
	}
	client := exportertest.MetadataClient(t)
	unselected := make(chan struct{}, 2)
	a := availability.NewTracker(slog.New(slog.DiscardHandler))
	a.OnUnselected = func() { unselected <- struct{}{} }
	lw := listWatch(client.Resource(pods.GVR()).Namespace("shop"), spec, a, &backoff{})
	w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil || !a.Up() {
		t.Fatalf("error %v, up %t", err, a.Up())
	}
	defer w.Stop()
	for _, o := range []*metav1.PartialObjectMetadata{object(false), object(true)} {
		if err := client.Tracker().Create(pods.GVR(), o, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	if event := <-w.ResultChan(); event.Object.(*metav1.PartialObjectMetadata).Name != "selected-true" {
		t.Errorf("watched %+v", event)
	}
	<-unselected
	list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if items := list.(*metav1.PartialObjectMetadataList).Items; len(items) != 1 || items[0].Name != "selected-true" {
		t.Errorf("listed %+v", items)
	}
	<-unselected
}
