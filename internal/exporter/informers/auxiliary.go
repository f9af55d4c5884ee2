package informers

import (
	"context"
	"log/slog"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// lookout follows, besides the targets and without reporting it, what tells a shard what to watch: the definitions of
// resources if another shard watches them, and the namespaces over which a resource is spread.
type Auxiliary struct {
	informer     cache.SharedIndexInformer
	availability *availability.Tracker
	cancel       context.CancelFunc
	ended        chan struct{}
}

// startLookout runs until ctx ends or end is called. It calls changed when something has come or gone that it follows, when
// it knows all of it for the first time, and when it is refused.
func StartAuxiliary(ctx context.Context, kind kinds.Kind, client metadata.Interface, changed func(), log *slog.Logger) (*Auxiliary, error) {
	a := availability.NewTracker(log.With("informer_type", kind.Type()))
	l := &Auxiliary{availability: a, ended: make(chan struct{})}
	source := listWatch(client.Resource(kind.GVR()), Spec{Kind: kind}, a)
	l.informer = cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), &metav1.PartialObjectMetadata{},
		cache.SharedIndexInformerOptions{ObjectDescription: kind.Type()})
	if err := l.informer.SetTransform(objects.Transform); err != nil {
		return nil, err
	}
	if err := l.informer.SetWatchErrorHandlerWithContext(a.WatchError); err != nil {
		return nil, err
	}
	if _, err := l.informer.AddEventHandler(onChange(changed)); err != nil {
		return nil, err
	}
	ctx, l.cancel = context.WithCancel(ctx)
	go func() {
		defer close(l.ended)
		l.informer.RunWithContext(ctx)
	}()
	for _, done := range []<-chan struct{}{l.informer.HasSyncedChecker().Done(), a.Refusal} {
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

// names returns the names of all objects, sorted, and false if they are not known yet.
func (l *Auxiliary) Names() ([]string, bool) {
	if l == nil || !l.informer.HasSynced() {
		return nil, false
	}
	return slices.Sorted(slices.Values(l.informer.GetStore().ListKeys())), true
}

// refused tells whether the objects cannot be known at present.
func (l *Auxiliary) Refused() bool {
	return l != nil && !l.informer.HasSynced() && l.availability.Status().Refused()
}

func (l *Auxiliary) Stop() {
	l.cancel()
	<-l.ended
}
