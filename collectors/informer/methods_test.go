//go:build !clientgo_before_0_37

package informer_test

import (
	"reflect"
	"slices"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Decorators embed what they decorate, so that they have the methods of any client-go. A method of a later client-go would
// be forwarded undecorated: decide whether to decorate it, then add it here.
func TestEveryMethodIsKnown(t *testing.T) {
	for _, c := range []struct {
		of                reflect.Type
		decorated, passed []string
	}{
		{
			reflect.TypeFor[cache.Indexer](),
			[]string{"AddIndexers", "ByIndex", "Get", "GetByKey", "Index", "IndexKeys", "List", "ListKeys"},
			[]string{
				"Add", "Bookmark", "Delete", "GetIndexers", "LastStoreSyncResourceVersion", "ListIndexFuncValues", "Replace", "Resync",
				"Update",
			},
		}, {
			reflect.TypeFor[cache.SharedIndexInformer](),
			[]string{
				"AddEventHandler", "AddEventHandlerWithOptions", "AddEventHandlerWithResyncPeriod", "AddIndexers", "GetIndexer",
				"GetStore", "RemoveEventHandler", "Run", "RunWithContext", "SetTransform",
			},
			[]string{
				"GetController", "HasSynced", "HasSyncedChecker", "IsStopped", "LastSyncResourceVersion", "SetWatchErrorHandler",
				"SetWatchErrorHandlerWithContext",
			},
		}, {
			reflect.TypeFor[cache.Controller](),
			[]string{"Run", "RunWithContext"},
			[]string{"HasSynced", "HasSyncedChecker", "LastSyncResourceVersion"},
		}, {
			reflect.TypeFor[informers.SharedInformerFactory](),
			[]string{
				"Admissionregistration", "Apps", "Autoscaling", "Batch", "Certificates", "Coordination", "Core", "Discovery", "Events",
				"Extensions", "Flowcontrol", "ForResource", "InformerFor", "InformerName", "Internal", "Lifecycle", "Networking", "Node",
				"Policy", "Rbac", "Resource", "Scheduling", "Shutdown", "Storage", "Storagemigration",
			},
			[]string{"Start", "StartWithContext", "WaitForCacheSync", "WaitForCacheSyncWithContext"},
		},
	} {
		known := slices.Sorted(slices.Values(slices.Concat(c.decorated, c.passed)))
		var methods []string
		for m := range c.of.Methods() {
			methods = append(methods, m.Name)
		}
		if slices.Sort(methods); !slices.Equal(methods, known) {
			t.Errorf("%v has the methods %v, known are %v", c.of, methods, known)
		}
	}
}

// Methods that client-go has had since v0.36 are forwarded, although no decorator names them.
func TestNewerMethodsAreForwarded(t *testing.T) {
	obs, _ := observertest.New(t)
	plain := cache.NewSharedIndexInformer(fakeapi.NewServer(), nil, 0, cache.Indexers{})
	inf := informer.Wrap(obs, pods, plain)
	if inf.HasSyncedChecker().Done() != plain.HasSyncedChecker().Done() {
		t.Error("HasSyncedChecker is not that of the informer")
	}
	inf.GetIndexer().Bookmark("7")
	if got := inf.GetIndexer().LastStoreSyncResourceVersion(); got != "7" || plain.GetStore().LastStoreSyncResourceVersion() != got {
		t.Errorf("the store has the version %q after a bookmark", got)
	}
	_, controller := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{ListerWatcher: fakeapi.NewServer()})
	if controller.HasSyncedChecker() == nil {
		t.Error("a controller has no HasSyncedChecker")
	}
}

// Informers of an API group that older versions of client-go lack are decorated.
func TestNewerGroupsAreDecorated(t *testing.T) {
	obs, _ := observertest.New(t)
	f := observertest.Keep(t, informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{Namespace: "shop"}))
	f.Lifecycle().V1alpha1().EvictionRequests().Informer()
	all := informer.Statuses(obs)
	if len(all) != 1 || !all[0].Connection || all[0].ID.Type() != "evictionrequests.lifecycle.k8s.io" || all[0].ID.WatchNamespace() != "shop" {
		t.Errorf("the informers are %+v", all)
	}
}
