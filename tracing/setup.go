package tracing

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config describes the traced program.
type Config struct {
	// ServiceName is the service.name of the spans unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES has another.
	ServiceName string
	// ServiceVersion is their service.version; empty leaves it out.
	ServiceVersion string
	// Logger receives OpenTelemetry's own messages, such as failed exports. It becomes the process's OpenTelemetry
	// logger and error handler. With nil, OpenTelemetry writes to the standard logger.
	Logger *slog.Logger
}

// Setup returns a provider configured by the standard OTEL_* environment variables; see the package documentation for
// which of them turn it on. Otherwise the provider does nothing. Except for Config.Logger, nothing global is set.
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
	return newProvider(res, sdktrace.WithBatcher(exporter)), nil
}

// newProvider is the part of Setup that tests use with a processor of their own.
func newProvider(res *resource.Resource, processor sdktrace.TracerProviderOption) *Provider {
	sampler := sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratioByEnv()))
	provider := sdktrace.NewTracerProvider(
		processor,
		sdktrace.WithResource(res),
		sdktrace.WithSampler(sampler),
		sdktrace.WithIDGenerator(ids{}),
	)
	return &Provider{
		TracerProvider: provider,
		keep: func(id trace.TraceID) bool {
			return sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: context.Background(), TraceID: id}).Decision ==
				sdktrace.RecordAndSample
		},
		shutdown: provider.Shutdown,
	}
}

// newResource describes the program. Later options win: the environment takes precedence.
func newResource(ctx context.Context, config Config) (*resource.Resource, error) {
	defaults := resource.WithAttributes(semconv.ServiceName(config.ServiceName))
	if config.ServiceVersion != "" {
		defaults = resource.WithAttributes(semconv.ServiceName(config.ServiceName), semconv.ServiceVersion(config.ServiceVersion))
	}
	return resource.New(ctx, defaults, resource.WithTelemetrySDK(), resource.WithFromEnv())
}
