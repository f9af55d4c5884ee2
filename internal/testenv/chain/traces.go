package chain

import (
	"context"
	"os"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// The values of OTEL_EXPORTER_OTLP_PROTOCOL.
const (
	grpcProtocol = "grpc"
	httpProtocol = "http/protobuf"
)

// jaegerPort is the well-known port of Jaeger's API.
const jaegerPort = 16686

func (c *Chain) startJaeger(ctx context.Context, _ programs) (err error) {
	if !c.options.Traces {
		return nil
	}
	c.Jaeger, err = stack.StartJaeger(ctx, stack.JaegerOptions{Dir: c.dir, Log: c.options.Log, Port: c.port(jaegerPort)})
	if err != nil {
		return err
	}
	c.keep(c.Jaeger.Server)
	return nil
}

// tracingEnv returns the environment of a traced program, nil without Jaeger.
func (c *Chain) tracingEnv(protocol string) []string {
	if c.Jaeger == nil {
		return nil
	}
	endpoint := c.Jaeger.GRPC
	if protocol == httpProtocol {
		endpoint = c.Jaeger.HTTP
	}
	return []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol, "OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint,
		"OTEL_TRACES_SAMPLER=parentbased_always_on",
		"OTEL_BSP_SCHEDULE_DELAY=1000", // users of the chain wait for traces
	}
}

// tracer returns the Tracer of the load generator, which is part of this process. tracing.Setup reads its configuration from
// the environment.
func (c *Chain) tracer(ctx context.Context) (collectors.Tracer, error) {
	if c.Jaeger == nil {
		return nil, nil
	}
	for _, variable := range c.tracingEnv(grpcProtocol) {
		key, value, _ := strings.Cut(variable, "=")
		if before, set := os.LookupEnv(key); set {
			defer os.Setenv(key, before)
		} else {
			defer os.Unsetenv(key)
		}
		if err := os.Setenv(key, value); err != nil {
			return nil, err
		}
	}
	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "load", Logger: c.options.Log})
	if err != nil {
		return nil, err
	}
	c.onStop(provider.Shutdown)
	return tracing.NewTracer(provider, tracing.TracerOptions{}), nil
}
