package informers

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// Synced returns a channel that is closed when an informer has synced, unless ctx ends first. Since v0.36, client-go's
// HasSyncedChecker does the same without polling.
func Synced(ctx context.Context, informer cache.SharedInformer) <-chan struct{} {
	synced := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			close(synced)
		}
	}()
	return synced
}
