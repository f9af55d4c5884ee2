package collectors

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Options configures an Observer. Only Name is required.
type Options struct {
	// Name is the value of the label name: the program or controller that the informers belong to.
	Name string
	// Logger gets the few things that a metric cannot say. The default is slog.Default.
	Logger *slog.Logger
	// Tracer follows events into handlers. The default is none.
	Tracer Tracer
	// RememberedEvents is how many watch events each informer remembers in order to pair them with the handlers that
	// finish them, at 16 bytes each. A handler that falls behind by more is still measured, with a lower bound. The
	// default is 1024.
	RememberedEvents int
	// Checks compare the caches with the API server. The default is none.
	Checks Checks
	// Limits bound the number of series.
	Limits Limits
	// UpstreamMetrics reports client-go's own metrics too, those of the catalog's family Upstream: for informers that have
	// a cache.InformerName (FactoryOptions.InformerName, SharedIndexInformerOptions.Identifier), and for the queues of
	// NewQueue. These then no longer report them to the provider that component-base or controller-runtime installs for the
	// process. Where the registry has informer_* or workqueue_* already, from one of these or from another Observer, that
	// is left alone, as the log says. Those of leader election need LeaderMetricsProvider. The default is to leave all of
	// them alone.
	UpstreamMetrics bool
}

const defaultRememberedEvents = 1024

// Observer decorates the informers of one program and reports what it sees. It is a prometheus.Collector, so that it
// can be unregistered from the registry that it was given. All its methods are safe for concurrent use, and none of
// them changes what it observes.
type Observer struct {
	logger     *slog.Logger
	tracer     Tracer
	remembered int
	checks     atomic.Pointer[Checks] // of informers that are made now
	// These limit how many checks are made at a time.
	freshnessSlots, auditSlots, mutationSlots slots
	auditing                                  *gate
	// base is the origin of the clock that the package measures on: monotonic and 8 bytes wide.
	base time.Time
	vecs *vecs
	// What is client-go's own is nil unless it was asked for and the registry had room for it.
	upstream       *upstream
	upstreamQueues *upstreamQueues
	upstreamLeader *upstreamLeader
	queues         queues

	types, namespaces, handlers, indexes series.Cap
	requests                             *requests
	lockNames                            series.Cap
	locks                                series.Pool[string, *lockSeries]

	controllers controllers
	dropped     series.Pool[string, map[string]prometheus.Counter]

	mu     sync.Mutex
	groups map[labels]*group
}

// New returns an Observer whose metrics are registered with reg. It fails if a name is missing, or if the registry already
// has an Observer of the same name: one Observer serves any number of informers.
func New(reg prometheus.Registerer, options Options) (*Observer, error) {
	if options.Name == "" {
		return nil, errors.New("collectors: Options.Name is empty: give the name of the program or controller")
	}
	if options.RememberedEvents < 0 {
		return nil, fmt.Errorf("collectors: Options.RememberedEvents is %d: give a positive number, or 0 for %d",
			options.RememberedEvents, defaultRememberedEvents)
	}
	if err := errors.Join(options.Checks.validate(), options.Limits.validate()); err != nil {
		return nil, err
	}
	if reg == nil {
		return nil, errors.New("collectors: the registerer is nil: give a prometheus.Registry")
	}
	o := &Observer{
		logger:         options.Logger,
		tracer:         options.Tracer,
		remembered:     options.RememberedEvents,
		base:           time.Now(),
		freshnessSlots: make(slots, freshnessAtOnce),
		auditSlots:     make(slots, auditsAtOnce),
		mutationSlots:  make(slots, mutationsAtOnce),
		auditing:       newGate(),
		vecs:           newVecs(options.Name),
		groups:         map[labels]*group{},
	}
	o.checks.Store(&options.Checks)
	o.requests = newRequests(o.vecs)
	if o.logger == nil {
		o.logger = slog.Default()
	}
	if o.remembered == 0 {
		o.remembered = defaultRememberedEvents
	}
	o.limit(options.Limits)
	if options.UpstreamMetrics {
		if u := newUpstream(); o.hasRoom(reg, "informer_*", u) {
			o.upstream = u
		}
		if u := newUpstreamQueues(o.controllers.names.Limit); o.hasRoom(reg, "workqueue_*", u) {
			o.upstreamQueues = u
		}
		if u := newUpstreamLeader(o.lockNames.Limit); o.hasRoom(reg, "leader_election_*", u) {
			o.upstreamLeader = u
		}
	}
	if err := reg.Register(o); err != nil {
		return nil, fmt.Errorf("collectors: cannot register the metrics of %q (one Observer per name and registry): %w", options.Name, err)
	}
	return o, nil
}

// SetChecks replaces Options.Checks for informers that are made from now on. Those that exist keep theirs. It fails if an
// interval is negative.
func (o *Observer) SetChecks(checks Checks) error {
	if err := checks.validate(); err != nil {
		return err
	}
	o.checks.Store(&checks)
	return nil
}

// now returns the nanoseconds since the Observer was made, and never 0, which stands for "not yet". It is what the hot
// paths pay for a clock.
func (o *Observer) now() int64 {
	return int64(time.Since(o.base)) + 1
}

// moment returns a moment that now returned as a time that other measurements can be compared with.
func (o *Observer) moment(at int64) time.Time {
	return o.base.Add(time.Duration(at - 1))
}

// wall returns the time of day of a moment that now returned, by today's clock: it may have been set since.
func (o *Observer) wall(at int64) time.Time {
	return time.Now().Add(-time.Duration(o.now() - at))
}

// Describe implements prometheus.Collector.
func (o *Observer) Describe(ch chan<- *prometheus.Desc) {
	o.vecs.describe(ch)
	if o.upstream != nil {
		o.upstream.Describe(ch)
	}
	if o.upstreamLeader != nil {
		o.upstreamLeader.Describe(ch)
	}
	if o.upstreamQueues != nil {
		o.upstreamQueues.Describe(ch)
	}
}

// Collect implements prometheus.Collector. It reads atomics, and takes a store's read lock for a moment; the package
// comment tells more.
func (o *Observer) Collect(ch chan<- prometheus.Metric) {
	o.vecs.collect(ch)
	if o.upstream != nil {
		o.upstream.Collect(ch)
	}
	if o.upstreamLeader != nil {
		o.upstreamLeader.Collect(ch)
	}
	if o.upstreamQueues != nil {
		o.upstreamQueues.Collect(ch)
	}
	for _, g := range o.snapshot() {
		g.collect(ch)
	}
	for _, s := range o.locks.Values() {
		s.collect(o, ch)
	}
	o.controllers.collect(ch)
	o.collectQueues(ch)
}
