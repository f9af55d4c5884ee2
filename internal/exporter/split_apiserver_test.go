package exporter

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// road is a transport to an API server. It can remove shardSelector from requests, so that the server seems to ignore it, and
// records requests for ConfigMaps without it.
type road struct {
	mu      sync.Mutex
	older   bool
	without []string
}

func (r *road) wrap(cluster *rest.Config) *rest.Config {
	cluster = rest.CopyConfig(cluster)
	cluster.Wrap(func(next http.RoundTripper) http.RoundTripper { return &traveler{r, next} })
	return cluster
}

func (r *road) become(older bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.older, r.without = older, nil
}

func (r *road) unselected() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.without)
}

type traveler struct {
	*road
	next http.RoundTripper
}

// WrappedRoundTripper lets client-go close the connections.
func (r *traveler) WrappedRoundTripper() http.RoundTripper { return r.next }

func (r *traveler) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	r.mu.Lock()
	older := r.older
	if strings.HasSuffix(request.URL.Path, "/configmaps") && !query.Has("shardSelector") && query.Get("limit") != "1" {
		r.without = append(r.without, request.URL.String())
	}
	r.mu.Unlock()
	if older && query.Has("shardSelector") {
		request = request.Clone(request.Context())
		query.Del("shardSelector")
		request.URL.RawQuery = query.Encode()
	}
	return r.next.RoundTrip(request)
}

// gated starts an API server with the feature gate ShardedListAndWatch.
func gated(t *testing.T) *rest.Config {
	t.Helper()
	return stacktest.Private(t, stack.Options{APIServerArgs: []string{"--feature-gates=ShardedListAndWatch=true"}}).Config()
}

// An API server with the feature gate sends each shard its part of the objects, in lists, watches and checks. Without a restart,
// shards split by namespace when the API server starts to ignore shardSelector, and by selector when it supports it again.
func TestObjectsAreSpread(t *testing.T) {
	admin := gated(t)
	client := kubernetes.NewForConfigOrDie(admin)
	t.Run("what is relied on", func(t *testing.T) { selectorsAreKept(t, admin) })

	const many label = "many"
	many.create(t, client, "default", 30)
	var road road
	f := newFleet(t, 3, road.wrap(admin), config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, SplitResources: []string{"configm*"}, LabelSelector: many.selector(), Checks: hasty,
	}, admin)
	f.waitReady(t)
	f.waitSpread(t, "configmaps", "shardSelector", 1)
	for ordinal, n := range f.waitHeldOnce(t, many.uids(t, client)) {
		if n == 0 || n > 25 {
			t.Errorf("shard %d has %d of 30", ordinal, n)
		}
	}
	many.create(t, client, "kube-system", 10)
	many.deleteAll(t, client, "default")
	many.create(t, client, "default", 10)
	f.waitHeldOnce(t, many.uids(t, client))
	f.waitChecked(t)
	f.checkNoWarnings(t)
	if requests := road.unselected(); len(requests) > 0 {
		t.Errorf("requests for the objects of all shards: %s", requests)
	}

	// An API server that ignores shardSelector takes over.
	road.become(true)
	f.rediscover()
	f.waitSpread(t, "configmaps", "namespaces", 1)
	many.create(t, client, "default", 5)
	f.waitHeldOnce(t, many.uids(t, client))
	for ordinal, scopes := range f.watchers("configmaps") {
		for _, namespace := range scopes {
			if owner := sharding.Owner("configmaps", namespace, 3); owner != ordinal {
				t.Errorf("shard %d watches %s, which belongs to shard %d", ordinal, namespace, owner)
			}
		}
	}
	f.waitChecked(t)

	road.become(false)
	f.rediscover()
	f.waitSpread(t, "configmaps", "shardSelector", 2)
	many.create(t, client, "default", 5)
	f.waitHeldOnce(t, many.uids(t, client))
	f.waitReady(t)
	f.checkNoWarnings(t)
}

// selectorsAreKept verifies the assumptions of the exporter: the parts of a shardSelector are disjoint and complete, in pages, at
// a given resourceVersion and in watches, including those of metadata.
func selectorsAreKept(t *testing.T, admin *rest.Config) {
	const these label = "these"
	client := kubernetes.NewForConfigOrDie(admin)
	these.create(t, client, "default", 20)
	resource := metadata.NewForConfigOrDie(admin).Resource(kinds.Kind{Version: "v1", Resource: "configmaps"}.GVR())
	all, err := resource.List(t.Context(), metav1.ListOptions{LabelSelector: these.selector()})
	if err != nil {
		t.Fatal(err)
	}
	these.create(t, client, "default", 1) // created after the version of the list
	const total = 4
	owners := map[string][]int{}
	for ordinal := range total {
		part := sharding.Shard{Ordinal: ordinal, Total: total}.Selector()
		options := metav1.ListOptions{
			LabelSelector: these.selector(), ShardSelector: part.String(), Limit: 2,
			ResourceVersion: all.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		}
		listed := map[string]bool{}
		for {
			page, err := resource.List(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Items {
				owners[string(o.UID)] = append(owners[string(o.UID)], ordinal)
				listed[string(o.UID)] = true
				if yes, err := part.Matches(&o); !yes || err != nil {
					t.Errorf("%s was sent to shard %d, but does not match its selector (%v)", o.UID, ordinal, err)
				}
			}
			if page.Continue == "" {
				break
			}
			options.ResourceVersion, options.ResourceVersionMatch, options.Continue = "", "", page.Continue
		}
		yes, limit := true, int64(60)
		stream, err := resource.Watch(t.Context(), metav1.ListOptions{
			LabelSelector: these.selector(), ShardSelector: part.String(), SendInitialEvents: &yes, AllowWatchBookmarks: true,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: &limit,
		})
		if err != nil {
			t.Fatal(err)
		}
		streamed := 0
		for event := range stream.ResultChan() {
			if event.Type == watch.Bookmark {
				break
			}
			o := event.Object.(*metav1.PartialObjectMetadata)
			if streamed++; !listed[string(o.UID)] && slices.ContainsFunc(all.Items, func(a metav1.PartialObjectMetadata) bool { return a.UID == o.UID }) {
				t.Errorf("%s is streamed to shard %d, but not listed", o.UID, ordinal)
			}
		}
		stream.Stop()
		if streamed < len(listed) {
			t.Errorf("%d objects are streamed to shard %d, but %d are listed", streamed, ordinal, len(listed))
		}
	}
	for _, o := range all.Items {
		if len(owners[string(o.UID)]) != 1 {
			t.Errorf("%s was sent to shards %v, want one", o.UID, owners[string(o.UID)])
		}
	}
	if len(owners) != len(all.Items) || len(owners) != 20 {
		t.Errorf("%d objects were sent, %d were listed before, want 20", len(owners), len(all.Items))
	}
}

// An API server without the feature gate ignores shardSelector. Objects are then split by namespace, including namespaces that
// are created or deleted later.
func TestObjectsAreSpreadByNamespaces(t *testing.T) {
	admin, some := stacktest.Config(t), stacktest.Namespace(t)
	client := kubernetes.NewForConfigOrDie(admin)
	many := label(some)
	f := newFleet(t, 3, admin, config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, SplitResources: []string{"configmaps"}, LabelSelector: many.selector(), Checks: hasty,
	})
	// Without objects, the method is unknown until a shard receives objects of another shard.
	f.waitReady(t)
	f.waitSpread(t, "configmaps", "shardSelector", 1)
	many.create(t, client, some, 10) // so many that no shard has all of them by chance
	many.create(t, client, "default", 10)
	f.waitSpread(t, "configmaps", "namespaces", 1)
	f.waitHeldOnce(t, many.uids(t, client))

	later, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "later-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	many.create(t, client, later.Name, 4)
	f.waitHeldOnce(t, many.uids(t, client))
	owner := sharding.Owner("configmaps", later.Name, 3)
	watches := func() bool { return slices.Contains(f.watchers("configmaps")[owner], later.Name) }
	if !watches() {
		t.Errorf("the new namespace belongs to shard %d, which watches %v", owner, f.watchers("configmaps")[owner])
	}
	f.waitChecked(t)

	many.deleteAll(t, client, later.Name)
	if err := client.CoreV1().Namespaces().Delete(t.Context(), later.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	later.Spec.Finalizers, later.ResourceVersion = nil, "" // there is no controller manager to do it
	if _, err := client.CoreV1().Namespaces().Finalize(t.Context(), later, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "no watches of the deleted namespace", func() bool { return !watches() }, func() string { return later.Name })
	f.waitHeldOnce(t, many.uids(t, client))
	f.checkNoWarnings(t)
}

// An API server without the feature gate sends every shard all objects. With splitBy: uid, shards still split them by UID,
// without a request to detect the feature gate.
func TestObjectsAreSpreadByUIDAnyhow(t *testing.T) {
	admin, some := stacktest.Config(t), stacktest.Namespace(t)
	client := kubernetes.NewForConfigOrDie(admin)
	many := label(some)
	many.create(t, client, some, 20)
	f := newFleet(t, 3, admin, config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, SplitResources: []string{"configmaps"}, SplitBy: config.SplitByUID, LabelSelector: many.selector(), Checks: hasty,
	})
	f.waitReady(t)
	f.waitSpread(t, "configmaps", "shardSelector", 1)
	f.waitHeldOnce(t, many.uids(t, client))
	many.create(t, client, some, 10)
	f.waitHeldOnce(t, many.uids(t, client))
	f.waitChecked(t)
	f.rediscover()
	f.waitChecked(t)
	f.waitHeldOnce(t, many.uids(t, client))
	f.waitSpread(t, "configmaps", "shardSelector", 1)
	f.checkNoWarnings(t)
	for ordinal, e := range f.exporters {
		if done := exportertest.Values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")["complete"]; done > 5 {
			t.Errorf("shard %d made %v discoveries because of the objects that it received", ordinal, done)
		}
	}
}

// Objects that can be split neither by UID nor by namespace stay on one shard until they can be.
func TestObjectsThatCannotBeSpread(t *testing.T) {
	admin, own := stacktest.Config(t), stacktest.Namespace(t)
	account := newLimited(t, own)
	account.Grant(t, "", mayWatch("nodes", "configmaps")) // but not namespaces
	createConfigMap(t, admin, own, "there")
	f := newFleet(t, 2, account.Config, config.Config{Resources: []config.Resource{{Name: "configmaps"}}, SplitResources: []string{"*"}}, admin)
	f.waitReady(t)
	f.waitSpread(t, "configmaps", "none", 1)
	await.True(t, "one shard watches all of them", func() bool {
		watchers := f.watchers("configmaps")
		return len(watchers) == 1 && slices.Equal(watchers[sharding.Owner("configmaps", "", 2)], []string{"*"})
	}, func() string { return fmt.Sprint(f.watchers("configmaps")) })

	// Once the shards may list namespaces, they split by namespace.
	account.Grant(t, "", mayWatch("namespaces"))
	f.waitSpread(t, "configmaps", "namespaces", 1)
	await.True(t, "both shards watch some", func() bool { return len(f.watchers("configmaps")) == 2 }, func() string { return fmt.Sprint(f.watchers("configmaps")) })
}

// Cluster-scoped objects also stay on one shard.
func TestClusterScopedObjectsCannotBeSpread(t *testing.T) {
	f := newFleet(t, 2, stacktest.Config(t), config.Config{Resources: []config.Resource{{Name: "namespaces"}}, SplitResources: []string{"*"}})
	f.waitReady(t)
	f.waitSpread(t, "namespaces", "none", 1)
	if watchers := f.watchers("namespaces"); len(watchers) != 1 {
		t.Errorf("namespaces are watched by %v", watchers)
	}
}
