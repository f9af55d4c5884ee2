// Package informerstest creates informers of the exporter in a cluster without an API server.
package informerstest

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
)

// NewFactory returns a factory with its metrics in registry and the client of exportertest. It discards logs and ignores events.
func NewFactory(t testing.TB, registry prometheus.Registerer) *informers.Factory {
	t.Helper()
	observer, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	signals, err := objects.New(registry, objects.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return &informers.Factory{
		Observer: observer, Client: exportertest.MetadataClient(t), Objects: signals, Logger: slog.New(slog.DiscardHandler),
		OnDefinitionsChanged: func() {}, OnUnselected: func() {},
	}
}
