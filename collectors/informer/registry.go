package informer

import (
	"slices"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// registry holds the informers of one Observer.
type registry struct {
	shared
	// metrics are the series in use.
	metrics series.Pool[labels, *metrics]

	mu sync.Mutex
	// informers are the informers that have not ended.
	informers []*informer
}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(obs.Core(), func(o *core.Observer) *registry {
		return &registry{shared: shared{Observer: o, checks: checks.NewShared()}}
	})
}

// newInformer returns an informer that no scrape sees until it is published.
func (r *registry) newInformer(id ID) *informer {
	l := labels{r.Labels.InformerTypes.Acquire(id.Type()), r.Labels.WatchNamespaces.Acquire(id.WatchNamespace())}
	m := r.metrics.Acquire(l, func() *metrics { return newMetrics(r.Observer, l) })
	c := stream.New(r.Observer, m.connection)
	c.SetNamespace(id.Namespace)
	return &informer{
		shared: &r.shared, id: id, metrics: m, connection: c, remove: r.remove,
		functions: functions.Functions{Connection: c, Drops: m.drops, Lost: m.lost, Conflicts: m.conflicts, IndexErrors: m.indexErrors},
	}
}

// publish lets scrapes see an informer. From then on it is changed only through its atomics and locks.
func (r *registry) publish(inf *informer) {
	inf.checks = checks.New(checks.Subject{
		Observer:       r.Observer,
		Shared:         r.checks,
		Metrics:        inf.metrics.checks,
		InformerType:   inf.id.Type(),
		WatchNamespace: inf.id.WatchNamespace(),
		Intervals:      *r.Checks.Load(),
		Connection:     inf.connection,
		Lister:         inf.lister,
		Store:          inf.indexer,
		Renamed:        inf.functions.Renames.Key,
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.informers = append(r.informers, inf)
}

// remove removes a published informer, and its series unless another informer has the same labels.
func (r *registry) remove(inf *informer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.informers, inf)
	if at < 0 {
		return
	}
	r.informers = slices.Delete(r.informers, at, at+1)
	l := inf.metrics.labels
	r.metrics.Release(l, (*metrics).end)
	r.Labels.InformerTypes.Release(l.informerType)
	r.Labels.WatchNamespaces.Release(l.watchNamespace)
}

// current returns the informers that have not ended.
func (r *registry) current() []*informer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.informers)
}

// shared is the state that the informers of one Observer share.
type shared struct {
	*core.Observer
	checks *checks.Shared
	// upstream are the labels in use of client-go's own metrics.
	upstream series.Pool[upstreamLabels, struct{}]
}

// upstreamLabels are name, group, version and resource.
type upstreamLabels [4]string
