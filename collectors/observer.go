package collectors

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Options configures an Observer. Only Name is required.
type Options struct {
	// Name is the value of the label name: the program or controller that is observed.
	Name string
	// Logger receives details that a metric cannot express. The default is slog.Default().
	Logger *slog.Logger
	// Tracer starts spans for lists, events, queues, reconciles, requests and finalizer cleanups. The default is none.
	Tracer Tracer
	// RememberedEvents is the number of watch events that each informer can remember, at 16 bytes each, to measure when handlers
	// finish them. An informer remembers 128 until a handler lags behind by more. For a handler that lags behind by more than
	// RememberedEvents, the event lag is a lower bound. The default is 1024.
	RememberedEvents int
	// Checks compare caches with the API server. The default is none.
	Checks Checks
	// Limits bounds the number of series.
	Limits Limits
	// Objectives override those of package catalog.
	Objectives Objectives
	// UpstreamMetrics adds client-go's own metrics: informer_* of informers that have a cache.InformerName, and
	// leader_election_* through leader.NewMetricsProvider. These metrics, and workqueue_* of decorated queues, are then
	// reported by the Observer instead of the providers that component-base or controller-runtime install for the process.
	// Without such a provider, decorated queues report workqueue_* in any case. Metrics that the registry already has are
	// skipped with a log message.
	UpstreamMetrics bool
	// Detail selects the metrics that are reported. The default is Full.
	Detail Detail
	// Histograms selects the form of histograms. The default is ClassicHistograms.
	Histograms Histograms
	// Omit has the names of metrics that are not reported, to save their series. Rules and panels that read an omitted metric
	// show nothing for this program. The default is none.
	Omit []string
}

const defaultRememberedEvents = 1024

// Observer holds the metrics that the decorators of one program report. It is a prometheus.Collector, so a program can unregister
// it. All methods are safe for concurrent use.
type Observer struct {
	handle // for core.Of
}

type handle = core.Handle

// New returns an Observer and registers its metrics with reg. One Observer serves any number of informers, queues and
// controllers. New returns an error if the registry already has an Observer with the same name.
//
// A registry of your own needs client_golang's process collector, which prometheus.DefaultRegisterer and controller-runtime's
// registry have: rules compare process_start_time_seconds with the time of a counter's first sample.
func New(reg prometheus.Registerer, options Options) (*Observer, error) {
	if options.Name == "" {
		return nil, errors.New("collectors: Options.Name is empty: set the name of the program or controller")
	}
	if options.RememberedEvents < 0 {
		return nil, fmt.Errorf("collectors: Options.RememberedEvents is %d: use a positive number, or 0 for %d",
			options.RememberedEvents, defaultRememberedEvents)
	}
	if err := errors.Join(options.Checks.validate(), options.Limits.validate(), options.Objectives.validate(), options.Detail.validate(), options.Histograms.validate(), validateOmit(options.Omit)); err != nil {
		return nil, err
	}
	if reg == nil {
		return nil, errors.New("collectors: the registerer is nil: pass a prometheus.Registry")
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.RememberedEvents == 0 {
		options.RememberedEvents = defaultRememberedEvents
	}
	o := &Observer{core.New(reg, core.Options{
		Name:             options.Name,
		Logger:           options.Logger,
		Tracer:           options.Tracer,
		RememberedEvents: options.RememberedEvents,
		Checks:           core.Checks(options.Checks),
		Limits:           core.Limits(options.Limits),
		Objectives:       core.Objectives(options.Objectives),
		UpstreamMetrics:  options.UpstreamMetrics,
		Omit:             options.Omit,
		Essential:        options.Detail == Essential,
		Histograms:       core.Histograms(options.Histograms),
	}).Handle()}
	if err := reg.Register(o); err != nil {
		return nil, fmt.Errorf("collectors: cannot register the metrics of %q (one Observer per name and registry): %w", options.Name, err)
	}
	return o, nil
}

// SetChecks replaces Options.Checks for informers that are created afterwards. Existing informers keep their checks. It
// returns an error if an interval is negative.
func (o *Observer) SetChecks(checks Checks) error {
	if err := checks.validate(); err != nil {
		return err
	}
	c := core.Checks(checks)
	core.Of(o).Checks.Store(&c)
	return nil
}

// Describe implements prometheus.Collector.
func (o *Observer) Describe(ch chan<- *prometheus.Desc) { core.Of(o).Describe(ch) }

// Collect implements prometheus.Collector. The package comment describes its cost.
func (o *Observer) Collect(ch chan<- prometheus.Metric) { core.Of(o).Collect(ch) }
