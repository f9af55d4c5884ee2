package informer_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// An index function that hangs locks the store. Scrapes and status pages continue, with the last known state of that store and the
// current state of all others.
func TestHangingIndexFunction(t *testing.T) {
	t.Parallel() // it waits as long as a scrape does
	obs, reg := observertest.New(t)
	hangs, entered := make(chan struct{}), make(chan struct{})
	index := func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).Name == "b" {
			close(entered)
			<-hangs
		}
		return nil, nil
	}
	run := func(name string, indexers cache.Indexers) *fakeapi.Stream {
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (kruntime.Object, error) {
			return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil
		}
		id := pods
		id.Resource = name
		start(t, informer.NewSharedIndexInformer(obs, id, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{Indexers: indexers}))
		return <-server.Streams
	}
	hanging := run("hanging", cache.Indexers{"slow": index})
	t.Cleanup(func() { close(hangs) }) // before the informer is stopped
	fine := run("fine", nil)
	versions := func() map[string]uint64 {
		got := map[string]uint64{}
		for _, s := range informer.Statuses(obs) {
			got[s.ID.Resource] = s.Stored
		}
		return got
	}
	await.True(t, "both stores have the list", func() bool { v := versions(); return v["hanging"] == 10 && v["fine"] == 10 })
	// client-go stores the list before it reports the sync. Once the store hangs, the sync is not read again.
	await.True(t, "both informers are synced", func() bool {
		return !slices.ContainsFunc(informer.Statuses(obs), func(s informer.Status) bool { return !s.Synced })
	})
	hanging.Send(watch.Added, fakeapi.Pod("b", 11))
	<-entered
	for version := 12; version < 20; version++ {
		fine.Send(watch.Modified, fakeapi.Pod("a", version))
		await.True(t, "the store that does not hang", func() bool { v := versions(); return v["hanging"] == 10 && v["fine"] == uint64(version) })
	}
	for _, equal := range []bool{false, true} {
		err := informer.AssertSynced(t.Context(), obs, informer.AssertOptions{IDs: []informer.ID{{Resource: "hanging"}}, MaxSyncLag: time.Hour, NoRequests: equal, Equal: equal})
		if err == nil || !strings.Contains(err.Error(), "store does not respond") {
			t.Errorf("the store hangs: %v", err)
		}
	}
	await.True(t, "one goroutine that waits", func() bool {
		stacks := make([]byte, 1<<23)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ".(*informer).readStore(") == 1
	})
	if families, err := reg.Gather(); err != nil || len(families) == 0 {
		t.Errorf("%d families, %v", len(families), err)
	}
}
