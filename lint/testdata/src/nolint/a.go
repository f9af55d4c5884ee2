package nolint

import "k8s.io/client-go/tools/cache"

func synced(informer cache.SharedIndexInformer) {
	informer.HasSynced() //nolint:informerlint // a reason
	informer.HasSynced() //nolint:unused,syncignored // a reason
	informer.HasSynced() // want `result of HasSynced is ignored`
}
