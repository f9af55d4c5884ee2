package handlerleak

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// detector discovers resources periodically, as kubefleet-dev/kubefleet before its pull request 396.
type detector struct {
	informers map[string]cache.SharedIndexInformer
	watched   map[string]bool
	handler   cache.ResourceEventHandler
}

func (d *detector) Run(ctx context.Context) {
	wait.UntilWithContext(ctx, d.discover, 30*time.Second)
}

func (d *detector) discover(ctx context.Context) {
	for _, informer := range d.informers {
		informer.AddEventHandler(d.handler) // want `each run of discover adds another handler`
	}
}

func (d *detector) RunFixed(ctx context.Context) {
	wait.UntilWithContext(ctx, d.discoverFixed, 30*time.Second)
}

func (d *detector) discoverFixed(ctx context.Context) {
	for resource, informer := range d.informers {
		if !d.watched[resource] {
			d.watched[resource] = true
			informer.AddEventHandler(d.handler)
		}
	}
}
