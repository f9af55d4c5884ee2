package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.32.0"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config describes the traced program.
type Config struct {
	// ServiceName is the service.name of the spans unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets it.
	ServiceName string
	// ServiceVersion is the service.version of the spans. The default is none.
	ServiceVersion string
	// Logger receives OpenTelemetry's own messages, such as failed exports. It becomes the process's OpenTelemetry
	// logger and error handler. If it is nil, OpenTelemetry writes to the standard logger.
	Logger *slog.Logger
	// Tail keeps the traces of slow and failed reconciles that are not sampled. The default keeps none.
	Tail Tail
	// IgnoreRemoteSampling ignores the sampled flag in annotations of objects. By default, an object with a sampled
	// TraceparentAnnotation is always traced, so clients that may annotate objects control the number of traces.
	IgnoreRemoteSampling bool
}

// Setup returns a provider configured by the standard OTEL_* environment variables; see the package documentation for which of
// them turn tracing on. If tracing is off, the provider does nothing. Except for Config.Logger, nothing global is set.
//
// The provider must be shut down for the last spans to be exported.
func Setup(ctx context.Context, config Config) (*Provider, error) {
	if !enabledByEnv() {
		return &Provider{TracerProvider: noop.NewTracerProvider()}, nil
	}
	if config.Logger != nil {
		otel.SetLogger(logr.FromSlogHandler(config.Logger.Handler()))
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			config.Logger.Warn("OpenTelemetry reported an error", "err", err)
		}))
	}
	res, err := newResource(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("tracing: resource from OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: exporter from OTEL_TRACES_EXPORTER and OTEL_EXPORTER_OTLP_*: %w", err)
	}
	counts := &exportCounts{}
	return newProvider(res, config, newBatcher(exporter, counts), counts), nil
}

// newProvider is the part of Setup that tests use with a processor of their own.
func newProvider(res *resource.Resource, config Config, processor sdktrace.SpanProcessor, counts *exportCounts) *Provider {
	sampler := newSampler(config)
	var tail *tailProcessor
	if sampler.tail {
		tail = newTailProcessor(processor, config.Tail, counts)
		processor = tail
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(processor),
		sdktrace.WithResource(res),
		sdktrace.WithSampler(sampler),
		sdktrace.WithIDGenerator(ids{}),
	)
	// The SDK's Shutdown does not call the processor if the context has ended.
	shutdown := func(ctx context.Context) error {
		return errors.Join(processor.Shutdown(ctx), provider.Shutdown(context.WithoutCancel(ctx)))
	}
	return &Provider{TracerProvider: provider, sampler: &sampler, shutdown: shutdown, counts: counts, tail: tail}
}

// newResource describes the program. Later options win: the environment takes precedence.
func newResource(ctx context.Context, config Config) (*resource.Resource, error) {
	defaults := resource.WithAttributes(semconv.ServiceName(config.ServiceName))
	if config.ServiceVersion != "" {
		defaults = resource.WithAttributes(semconv.ServiceName(config.ServiceName), semconv.ServiceVersion(config.ServiceVersion))
	}
	return resource.New(ctx, defaults, resource.WithTelemetrySDK(), resource.WithFromEnv())
}
