package core

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
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
	Objectives       Objectives
	UpstreamMetrics  bool
	Omit             []string
	// Essential is set if only essential metrics are reported.
	Essential bool
	// Histograms is the form of all histograms.
	Histograms Histograms
}

// Checks has the fields of collectors.Checks.
type Checks struct {
	Freshness, Audit, Mutations, Memory time.Duration
}

// Limits has the fields of collectors.Limits.
type Limits struct {
	InformerTypes, WatchNamespaces, Handlers, Indexes, Controllers, Finalizers, Locks, Resources int
}

// Objectives has the fields of collectors.Objectives.
type Objectives struct {
	SyncLag, EventLag time.Duration
	ItemRetries       int
}

// orCatalog returns the objectives with those of the catalog in place of zero fields.
func (o Objectives) orCatalog() Objectives {
	all := &catalog.Objectives
	return Objectives{
		SyncLag:     cmp.Or(o.SyncLag, time.Duration(all.SyncLag.Threshold*float64(time.Second))),
		EventLag:    cmp.Or(o.EventLag, time.Duration(all.EventLag.Threshold*float64(time.Second))),
		ItemRetries: cmp.Or(o.ItemRetries, int(all.ItemRetries.Threshold)),
	}
}
