package informer

import (
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// registry holds the informers of one Observer.
type registry struct {
	shared
	// metrics are the series in use.
	metrics series.Pool[labels, *metrics]
	// informers are the informers that have not ended, and are reachable.
	informers series.Set[informer]
}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(core.Of(obs), func(o *core.Observer) *registry {
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
		shared: &r.shared, id: id, metrics: m, connection: c, claim: &claim{registry: r, metrics: m},
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
	r.informers.Add(inf, inf.claim.release)
}

// claim is the reference of an informer to its series. It is released when the informer has ended, or is unreachable.
type claim struct {
	// closed is the informer if its owner must end it with a call. Otherwise it is nil, because the claim would keep the informer
	// reachable.
	closed   *informer
	registry *registry
	metrics  *metrics
	// upstream reports client-go's own metrics of the informer. It is nil unless the Observer reports them.
	upstream *upstreamInformer
	// resource and echo are what the program writes and what the informer receives. echo is nil unless the connection is observed.
	resource schema.GroupResource
	echo     *echo.Watch

	mu       sync.Mutex
	handlers []*handlerMetrics
}

// observeWrites measures when the informer receives the program's own writes.
func (c *claim) observeWrites(inf *informer) {
	c.resource, c.echo = schema.GroupResource{Group: inf.id.Group, Resource: inf.id.Resource}, inf.connection.Echo
	echo.Of(c.registry.Observer).Add(c.resource, inf.id.Namespace, c.echo)
}

func (c *claim) acquireHandler(name string) *handlerMetrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.metrics.acquireHandler(name)
	c.handlers = append(c.handlers, h)
	return h
}

func (c *claim) releaseHandler(h *handlerMetrics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.handlers, h); at >= 0 {
		c.handlers = slices.Delete(c.handlers, at, at+1)
		c.metrics.releaseHandler(h)
	}
}

// release deletes the series of the informer, unless another one has the same labels.
func (c *claim) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.handlers {
		c.metrics.releaseHandler(h)
	}
	c.handlers = nil
	c.upstream.end()
	echo.Of(c.registry.Observer).Remove(c.resource, c.echo)
	l := c.metrics.labels
	c.registry.metrics.Release(l, (*metrics).end)
	c.registry.Labels.InformerTypes.Release(l.informerType)
	c.registry.Labels.WatchNamespaces.Release(l.watchNamespace)
}

// shared is the state that the informers of one Observer share.
type shared struct {
	*core.Observer
	checks *checks.Shared
	// ran is set once an informer has been run.
	ran atomic.Bool
	// upstream are the series of client-go's own metrics.
	upstream series.Pool[upstreamLabels, *core.Scope]
}

// upstreamLabels are name, group, version and resource.
type upstreamLabels [4]string
