package core

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Observer is the state that all decorators of a collectors.Observer share. It is safe for concurrent use.
type Observer struct {
	// Name is Options.Name.
	Name   string
	Logger *slog.Logger
	// Tracing is nil unless the program traces. All its methods accept a nil Tracing.
	Tracing *Tracing
	// RememberedEvents is the size of each informer's ring of events.
	RememberedEvents int
	// Checks are the checks of informers that are created from now on.
	Checks atomic.Pointer[Checks]
	// Objectives are Options.Objectives with their defaults.
	Objectives Objectives
	// Metrics are the metrics with the label name.
	Metrics *Vectors
	// Labels limits the values of open labels.
	Labels Labels
	// UpstreamMetrics is Options.UpstreamMetrics.
	UpstreamMetrics bool
	// Histograms is the form of histograms.
	Histograms Histograms
	// Informers and Leaders are client-go's own metrics. Each is nil without Options.UpstreamMetrics, or if the registry
	// already had metrics of these names. Those of work queues are registered with the first queue.
	Informers, Leaders *Vectors
	// reg is the registerer of the Observer.
	reg prometheus.Registerer

	// base is the origin of Now.
	base time.Time

	mu    sync.Mutex
	parts []Part
}

// New returns an Observer. Its metrics are not registered yet. It uses reg to find out which of client-go's own metrics are
// registered, and later for Register.
func New(reg prometheus.Registerer, options Options) *Observer {
	o := &Observer{
		Name:             options.Name,
		Logger:           options.Logger,
		Tracing:          newTracing(options.Tracer, options.Logger),
		RememberedEvents: options.RememberedEvents,
		UpstreamMetrics:  options.UpstreamMetrics,
		Histograms:       options.Histograms,
		Objectives:       options.Objectives.orCatalog(),
		Metrics:          newMetrics(options),
		reg:              reg,
		base:             time.Now(),
	}
	o.Checks.Store(&options.Checks)
	o.Labels.init(o, options.Limits)
	if options.UpstreamMetrics {
		o.Informers = o.ifUnregistered(reg, "informer_*", NewUpstreamInformers(options.Histograms))
		o.Leaders = o.ifUnregistered(reg, "leader_election_*", NewUpstreamLeaders())
	}
	return o
}

// Now returns a monotonic time in nanoseconds, which hot paths can store atomically. It is never 0, so that 0 can stand for
// no time.
func (o *Observer) Now() int64 {
	return int64(time.Since(o.base)) + 1
}

// Base returns the origin of Now.
func (o *Observer) Base() time.Time { return o.base }

// Moment converts a result of Now to a time with a monotonic clock reading.
func (o *Observer) Moment(at int64) time.Time {
	return o.base.Add(time.Duration(at - 1))
}

// Wall converts a result of Now to wall clock time, based on the current setting of the clock.
func (o *Observer) Wall(at int64) time.Time {
	return time.Now().Add(-time.Duration(o.Now() - at))
}

// Describe sends the descriptions of all metrics.
func (o *Observer) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range o.vectors() {
		v.Describe(ch)
	}
}

// Collect sends all metrics.
func (o *Observer) Collect(ch chan<- prometheus.Metric) {
	for _, p := range o.currentParts() { // first: what they find may change a series in a vector
		p.Collect(ch)
	}
	for _, v := range o.vectors() {
		v.Collect(ch)
	}
	o.Tracing.collect(o.Metrics, ch)
}

func (o *Observer) vectors() []*Vectors {
	all := []*Vectors{o.Metrics}
	for _, v := range []*Vectors{o.Informers, o.Leaders} {
		if v != nil {
			all = append(all, v)
		}
	}
	return all
}
