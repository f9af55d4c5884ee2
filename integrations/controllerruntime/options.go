package controllerruntime

import (
	"errors"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Options configures how a manager is observed. Either Name or Observer is required.
type Options struct {
	// Name is the value of the label name: the operator. Managers with the same name and registry share one Observer, that of
	// the first, so that a process may have several managers.
	Name string
	// Observer is used in place of a new one. The other fields, except Requests, are then ignored.
	Observer *collectors.Observer
	// Registerer is where the metrics are registered. The default is controller-runtime's registry, which the manager
	// serves.
	Registerer prometheus.Registerer
	// Tracer starts spans for lists, events, reconciles and requests. The default is none.
	Tracer collectors.Tracer
	// RememberedEvents sets collectors.Options.RememberedEvents.
	RememberedEvents int
	// Checks compare caches with the API server. The default is none; collectors.DefaultChecks turns them on.
	Checks collectors.Checks
	// Limits bounds the number of series.
	Limits collectors.Limits
	// Objectives override those of package catalog.
	Objectives collectors.Objectives
	// Detail selects the reported metrics, and Omit excludes some of them: see collectors.Options.
	Detail collectors.Detail
	Omit   []string
	// Histograms selects the form of histograms. The default is collectors.ClassicHistograms. controller-runtime always exposes its
	// own as both.
	Histograms collectors.Histograms
	// Requests are types of requests besides reconcile.Request. Their controllers are decorated as well:
	//
	//	Requests: []controllerruntime.RequestType{controllerruntime.RequestOf[myRequest]()}
	Requests []RequestType
}

// observer returns the Observer of a manager that logs to the given logger.
func (o Options) observer(logger logr.Logger) (*collectors.Observer, error) {
	if o.Observer != nil {
		return o.Observer, nil
	}
	if o.Registerer == nil {
		o.Registerer = metrics.Registry
	}
	obs, err := collectors.New(o.Registerer, o.forObserver(logger))
	var registered prometheus.AlreadyRegisteredError
	if errors.As(err, &registered) {
		if shared, ok := registered.ExistingCollector.(*collectors.Observer); ok {
			return shared, nil
		}
	}
	return obs, err
}

// forObserver returns the options of a new Observer.
func (o Options) forObserver(logger logr.Logger) collectors.Options {
	return collectors.Options{
		Name:             o.Name,
		Logger:           slog.New(logr.ToSlogHandler(logger)),
		Tracer:           o.Tracer,
		RememberedEvents: o.RememberedEvents,
		Checks:           o.Checks,
		Limits:           o.Limits,
		Objectives:       o.Objectives,
		Detail:           o.Detail,
		Omit:             o.Omit,
		Histograms:       o.Histograms,
	}
}

// loggerOf returns the logger that a manager with this logger uses.
func loggerOf(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil {
		return log.Log
	}
	return logger
}
