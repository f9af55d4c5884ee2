package removed

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

func loop(ctx context.Context, informer cache.SharedIndexInformer) {
	for ctx.Err() == nil {
		registration, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		informer.RemoveEventHandler(registration)
	}
}
