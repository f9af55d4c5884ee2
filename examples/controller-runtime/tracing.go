package main

import (
	"context"
	"os"

	"github.com/informer-exporter/informer-exporter/tracing"
)

// newTracer returns a Tracer configured by the OTEL_* environment variables. Without them, it does nothing. stop exports the
// last spans.
func newTracer() (tracer *tracing.Tracer, stop func()) {
	provider, err := tracing.Setup(context.Background(), tracing.Config{ServiceName: "owner-labels"})
	if err != nil {
		setupLog.Error(err, "unable to set up tracing")
		os.Exit(1)
	}
	return tracing.NewTracer(provider, tracing.TracerOptions{}), func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			setupLog.Error(err, "last spans not exported")
		}
	}
}
