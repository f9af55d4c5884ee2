package exporter

import (
	"context"
	"log/slog"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// lookout follows, besides the targets and without reporting it, what tells a shard what to watch: the definitions of
// resources if another shard watches them, and the namespaces over which a resource is spread.
type lookout struct {
	informer     cache.SharedIndexInformer
	availability *availability
	cancel       context.CancelFunc
	ended        chan struct{}
}

// startLookout runs until ctx ends or end is called. It calls changed when something has come or gone that it follows, when
// it knows all of it for the first time, and when it is refused.
func startLookout(ctx context.Context, kind Kind, client metadata.Interface, changed func(), log *slog.Logger) (*lookout, error) {
	a := newAvailability(log.With("informer_type", kind.Type()))
	l := &lookout{availability: a, ended: make(chan struct{})}
	source := listWatch(client.Resource(kind.gvr()), subject{kind: kind}, a)
	l.informer = cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), &metav1.PartialObjectMetadata{},
		cache.SharedIndexInformerOptions{ObjectDescription: kind.Type()})
	if err := l.informer.SetTransform(slim); err != nil {
		return nil, err
	}
	if err := l.informer.SetWatchErrorHandlerWithContext(a.watchError); err != nil {
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
	for _, done := range []<-chan struct{}{l.informer.HasSyncedChecker().Done(), a.refusal} {
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
func (l *lookout) names() ([]string, bool) {
	if l == nil || !l.informer.HasSynced() {
		return nil, false
	}
	return slices.Sorted(slices.Values(l.informer.GetStore().ListKeys())), true
}

// refused tells whether the objects cannot be known at present.
func (l *lookout) refused() bool {
	return l != nil && !l.informer.HasSynced() && l.availability.current().refusing()
}

func (l *lookout) end() {
	l.cancel()
	<-l.ended
}

// lookouts are those that run, by what they follow.
type lookouts map[Kind]*lookout

// become ends those that are not wanted any more, and starts those that are and do not run. start returns nil if it cannot.
func (l lookouts) become(wanted map[Kind]bool, start func(Kind) *lookout) {
	for kind, running := range l {
		if !wanted[kind] {
			running.end()
			delete(l, kind)
		}
	}
	for kind := range wanted {
		if l[kind] == nil {
			if started := start(kind); started != nil {
				l[kind] = started
			}
		}
	}
}
