package syncignored

import (
	"errors"

	"k8s.io/client-go/tools/cache"
)

// kubernetes82964 ignores the result in a function with results, as before kubernetes/kubernetes#82964.
func kubernetes82964(stop <-chan struct{}, synced cache.InformerSynced) error {
	cache.WaitForCacheSync(stop, synced) // want `result of WaitForCacheSync is ignored`
	return nil
}

func kubernetes82964Fixed(stop <-chan struct{}, synced cache.InformerSynced) error {
	if !cache.WaitForCacheSync(stop, synced) {
		return errors.New("failed to sync")
	}
	return nil
}
