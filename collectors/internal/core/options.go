package core

import (
	"log/slog"
	"time"
)

// Options are validated collectors.Options with their defaults filled in.
type Options struct {
	Name             string
	Logger           *slog.Logger
	Tracer           Tracer
	RememberedEvents int
	Checks           Checks
	Limits           Limits
	UpstreamMetrics  bool
}

// Checks has the fields of collectors.Checks.
type Checks struct {
	Freshness, Audit, Mutations time.Duration
}

// Limits has the fields of collectors.Limits.
type Limits struct {
	InformerTypes, WatchNamespaces, Handlers, Indexes, Controllers, Finalizers, Locks, Resources int
}

// Tracer has the methods of collectors.Tracer.
type Tracer interface {
	Deliver(informerType, watchNamespace, handler, event string, received time.Time) (end func(panicked bool), traceID string)
}
