package syncignored

import (
	"errors"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func run(stop <-chan struct{}, informer cache.SharedIndexInformer) {
	cache.WaitForCacheSync(stop, informer.HasSynced) // want `result of WaitForCacheSync is ignored`
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		return
	}
}

func start(stop <-chan struct{}, factory informers.SharedInformerFactory) error {
	factory.WaitForCacheSync(stop)     // want `result of WaitForCacheSync is ignored`
	_ = factory.WaitForCacheSync(stop) // want `result of WaitForCacheSync is ignored`
	for _, synced := range factory.WaitForCacheSync(stop) {
		if !synced {
			return errors.New("not synced")
		}
	}
	return nil
}

func synced(informer cache.SharedIndexInformer) bool {
	informer.HasSynced() // want `result of HasSynced is ignored`
	return informer.HasSynced()
}
