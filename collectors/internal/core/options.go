package core

import (
	"log/slog"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Options are validated collectors.Options with their defaults filled in.
type Options struct {
	Name             string
	Logger           *slog.Logger
	Tracer           spans.Tracer
	RememberedEvents int
	Checks           Checks
	Limits           Limits
	UpstreamMetrics  bool
	Omit             []string
	// Essential is set if only essential metrics are reported.
	Essential bool
	// Histograms is the form of all histograms.
	Histograms Histograms
}

// Checks has the fields of collectors.Checks.
type Checks struct {
	Freshness, Audit, Mutations time.Duration
}

// Limits has the fields of collectors.Limits.
type Limits struct {
	InformerTypes, WatchNamespaces, Handlers, Indexes, Controllers, Finalizers, Locks, Resources int
}
