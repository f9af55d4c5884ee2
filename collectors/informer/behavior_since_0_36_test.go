//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// locked reports whether client-go holds a lock while it calls the handler of an informer without shared handlers. In a
// synctest bubble, such a handler must not sleep.
const locked = false

// behaviorsSince036 need methods that client-go has had since v0.36.
var behaviorsSince036 = map[string]behavior{
	"a registration is synced when its handler has returned": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		release := make(chan struct{})
		registration := s.add(inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
		noteSync := func() {
			s.quiesce()
			s.note("informer %t, registration %t, %t", inf.HasSynced(), registration.HasSynced(), cache.IsDone(registration.HasSyncedChecker()))
		}
		noteSync()
		s.run(inf)
		noteSync()
		s.note("waited %t", cache.WaitForCacheSync(s.Context().Done(), inf.HasSynced))
		go func() {
			s.note("waited %t", cache.WaitFor(s.Context(), "", inf.HasSyncedChecker(), registration.HasSyncedChecker()))
		}()
		close(release)
		noteSync()
		ended, cancel := context.WithCancel(s.Context())
		cancel()
		never := s.newInformer(cache.SharedIndexInformerOptions{})
		s.note("waited %t, %t", cache.WaitForCacheSync(ended.Done(), never.HasSynced), cache.WaitFor(ended, "", never.HasSyncedChecker()))
		s.note("%s", inf.HasSyncedChecker().Name())
	}, []string{
		"informer false, registration false, false", "informer true, registration false, false",
		"waited true", "waited true", "SharedIndexInformer *v1.Pod", "informer true, registration true, true", "waited false, false",
	}},
	"versions are those of the last list, event or bookmark": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		noteVersions := func() {
			s.quiesce()
			c := inf.GetController()
			s.note("informer %q, controller %q, store %q, synced %t", inf.LastSyncResourceVersion(), c.LastSyncResourceVersion(),
				inf.GetStore().LastStoreSyncResourceVersion(), c.HasSynced())
		}
		noteVersions()
		stream, _ := s.run(inf)
		noteVersions()
		stream.Send(watch.Modified, fakeapi.Pod("a", 12))
		noteVersions()
		stream.Send(watch.Bookmark, fakeapi.Bookmark(20))
		noteVersions()
	}, []string{
		`informer "", controller "", store "", synced false`, `informer "10", controller "10", store "10", synced true`,
		`informer "12", controller "12", store "12", synced true`, `informer "20", controller "20", store "20", synced true`,
	}},
	"stores are read and written": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		for _, store := range []cache.Store{inf.GetStore(), inf.GetIndexer()} {
			for _, err := range []error{
				store.Add(fakeapi.Pod("a", 1)), store.Update(fakeapi.Pod("b", 2)), store.Delete(fakeapi.Pod("a", 1)), store.Resync(),
				store.Replace([]any{fakeapi.Pod("c", 3), fakeapi.Pod("d", 4)}, "5"),
			} {
				if err != nil {
					s.Error(err)
				}
			}
			_, found, err := store.Get(fakeapi.Pod("c", 0))
			s.note("c: %t %v", found, err)
			_, found, err = store.GetByKey("default/a")
			s.note("a: %t %v", found, err)
			_, found, err = store.Get("no object")
			s.note("no object: %t %v", found, err)
			keys := store.ListKeys()
			slices.Sort(keys)
			s.note("%s %v at %s", namesOf(store.List(), nil), keys, store.LastStoreSyncResourceVersion())
			store.Bookmark("9")
			transactions, ok := store.(cache.TransactionStore)
			s.note("transactions: %t", ok)
			if failed := transactions.Transaction(
				cache.Transaction{Type: cache.TransactionTypeAdd, Object: fakeapi.Pod("e", 10)}, cache.Transaction{Type: cache.TransactionTypeDelete, Object: fakeapi.Pod("c", 11)},
			); failed != nil {
				s.Error(failed)
			}
			s.note("%s at %s", namesOf(store.List(), nil), store.LastStoreSyncResourceVersion())
			s.quiesce()
		}
	}, slices.Repeat([]string{
		"a: false <nil>", "c d [default/c default/d] at 5", "c: true <nil>", "d e at 11",
		`no object: false couldn't create key for object no object: object has no meta: object does not implement the Object interfaces`,
		"transactions: true",
	}, 2)},
}
