package exporter

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// Each shard watches its share of the resources, with its own value of the label "name".
func TestShardsWatchTheirPart(t *testing.T) {
	asked := []config.Resource{{Name: "pods"}, {Name: "nodes"}, {Name: "services"}, {Name: "configmaps"}}
	owners := map[string]int{}
	const total = 3
	for ordinal := range total {
		shard := sharding.Shard{Ordinal: ordinal, Total: total}
		e := newFake(t, Options{Shard: shard, Config: config.Config{Resources: asked}})
		for kind, up := range exportertest.Values(t, e.Gatherer(), catalog.ExporterKindUp.Name, "informer_type") {
			if other, taken := owners[kind]; taken || up != 0 {
				t.Errorf("%s is watched by %d and %d", kind, other, ordinal)
			}
			owners[kind] = ordinal
			if ordinal != sharding.Owner(kind, "", total) {
				t.Errorf("%s is watched by %d", kind, ordinal)
			}
		}
		if got := exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "name"); len(got) > 0 {
			if _, ok := got[shard.Name()]; !ok || len(got) > 1 {
				t.Errorf("the informers of shard %v are called %v", shard, got)
			}
		}
		number := fmt.Sprint(ordinal)
		if got := exportertest.Values(t, e.Gatherer(), catalog.ExporterShards.Name, "shard"); len(got) != 1 || got[number] != total {
			t.Errorf("shard %v reports %v", shard, got)
		}
	}
	if len(owners) != len(asked) {
		t.Errorf("watched: %v, want %v", owners, asked)
	}
}

// A shard without resources is ready.
func TestIdleShardIsReady(t *testing.T) {
	shard := sharding.Shard{Ordinal: 0, Total: 1000}
	for ; slices.ContainsFunc([]string{"pods", "nodes", "secrets"}, func(kind string) bool { return shard.Owns(kind, "") }); shard.Ordinal++ {
	}
	var written logtest.Recorder
	e := newFake(t, Options{Shard: shard, Logger: written.Logger()})
	run(t, e)
	await.True(t, "ready", func() bool { return get(e, "/readyz").Code == http.StatusOK },
		func() string { return get(e, "/readyz").Body.String() })
	await.True(t, "a log line about it", func() bool { return len(written.Find("this shard has nothing to watch", "shard", shard.String())) == 1 },
		func() string { return fmt.Sprint(written.Find("")) })
	e.Drain()
	if get(e, "/readyz").Code == http.StatusOK {
		t.Error("ready during the shutdown")
	}
}

// Without shardSelector, a shard is not ready until it knows the namespaces.
func TestNotReadyBeforeNamespacesAreKnown(t *testing.T) {
	client := exportertest.MetadataClient(t)
	var known atomic.Bool
	all := []string{"blog", "pay", "shop", "test"}
	client.PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !known.Load() {
			return true, nil, errors.New("etcd is slow")
		}
		list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
		for _, name := range all {
			list.Items = append(list.Items, runtime.RawExtension{Object: &metav1.PartialObjectMetadata{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7"},
			}})
		}
		return true, list, nil
	})
	e := newFakeOf(t, Options{Shard: sharding.Shard{Ordinal: 0, Total: 2}, Config: config.Config{Resources: []config.Resource{{Name: "pods"}}, SplitResources: []string{"pods"}}}, client, exportertest.Discovery("v1/pods,namespaces"))
	run(t, e)
	discoveries := func() float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")["complete"]
	}
	await.True(t, "a discovery", func() bool { return discoveries() >= 1 })
	e.follower.DefinitionsChanged()
	await.True(t, "a second discovery, after the first has been applied", func() bool { return discoveries() >= 2 })
	if response := get(e, "/readyz"); response.Code == http.StatusOK || !strings.Contains(response.Body.String(), "[-]discovery failed: not complete yet") {
		t.Errorf("before namespaces are known: %d\n%s", response.Code, response.Body)
	}
	known.Store(true)
	waitReady(t, e)
	var want []string
	for _, namespace := range all {
		if sharding.Owner("pods", namespace, 2) == 0 {
			want = append(want, namespace+"/pods")
		}
	}
	if have := namesOf(e.informers.List()); !slices.Equal(have, want) || len(want) == 0 || len(want) == len(all) {
		t.Errorf("watched: %v, want %v", have, want)
	}
}

// A shard that waits for the namespaces of a split resource becomes ready when a new configuration no longer splits it.
func TestReadyWithoutTheNamespacesThatNobodyNeeds(t *testing.T) {
	split := config.Config{Resources: []config.Resource{{Name: "pods"}}, SplitResources: []string{"pods"}}
	client := exportertest.MetadataClient(t)
	asked := make(chan struct{}, 1)
	client.PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case asked <- struct{}{}:
		default:
		}
		return true, nil, errors.New("etcd is slow")
	})
	e := newFakeOf(t, Options{Shard: sharding.Shard{Ordinal: 0, Total: 2}, Config: split}, client, exportertest.Discovery("v1/pods,namespaces"))
	run(t, e)
	await.True(t, "namespaces are requested, after the only discovery for several minutes", func() bool { return len(asked) > 0 })
	if e.status.IsDiscovered() {
		t.Error("discovered before namespaces are known")
	}
	split.SplitResources = nil
	e.follower.Reconfigure(split)
	waitReady(t, e)
}
