package informers

import (
	"context"
	"log/slog"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Auxiliary is an informer without metrics that a shard needs to decide what to watch: CustomResourceDefinitions that another
// shard reports, and the namespaces by which objects are split.
type Auxiliary struct {
	informer     cache.SharedIndexInformer
	availability *availability.Tracker
	backoff      backoff
	cancel       context.CancelFunc
	ended        chan struct{}
}

// StartAuxiliary starts an informer that runs until ctx ends or Stop is called. It calls changed on events after the initial
// list, on the first sync and on the first refusal.
func StartAuxiliary(ctx context.Context, kind kinds.Kind, client metadata.Interface, changed func(), log *slog.Logger) (*Auxiliary, error) {
	a := availability.NewTracker(log.With("informer_type", kind.Type()))
	l := &Auxiliary{availability: a, ended: make(chan struct{})}
	source := listWatch(client.Resource(kind.GVR()), Spec{Kind: kind}, a, &l.backoff)
	l.informer = cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), &metav1.PartialObjectMetadata{},
		cache.SharedIndexInformerOptions{ObjectDescription: kind.Type()})
	if err := prepare(l.informer, a, onChange(changed)); err != nil {
		return nil, err
	}
	ctx, l.cancel = context.WithCancel(ctx)
	go func() {
		defer close(l.ended)
		runUntil(ctx, l.informer, &l.backoff)
	}()
	for _, done := range []<-chan struct{}{Synced(ctx, l.informer), a.Refusal} {
		go func() {
			select {
			case <-done:
				changed()
			case <-l.ended:
			}
		}()
	}
	return l, nil
}

// Names returns the sorted keys of all objects, or false before the first sync.
func (l *Auxiliary) Names() ([]string, bool) {
	if l == nil || !l.informer.HasSynced() {
		return nil, false
	}
	return slices.Sorted(slices.Values(l.informer.GetStore().ListKeys())), true
}

// Refused reports whether the API server rejects the informer's requests and it has not synced.
func (l *Auxiliary) Refused() bool {
	return l != nil && !l.informer.HasSynced() && l.availability.Status().Refused()
}

// Stop stops the informer and waits for it.
func (l *Auxiliary) Stop() {
	l.cancel()
	<-l.ended
}
