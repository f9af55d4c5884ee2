package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// instrumentation names the spans' instrumentation scope.
const instrumentation = "github.com/informer-exporter/informer-exporter/tracing"

// Attributes of spans. There are no semantic conventions for informers; those for Kubernetes are used where they fit.
// No attribute holds an object's name.
const (
	// InformerTypeKey is the resource: "pods", "deployments.apps".
	InformerTypeKey = attribute.Key("informer.type")
	// InformerHandlerKey is the event handler, as in the label "handler".
	InformerHandlerKey = attribute.Key("informer.handler")
	// InformerEventKey is the type of the event.
	InformerEventKey = attribute.Key("informer.event")
)

// handlerStarted is the span event at the moment the handler is called.
const handlerStarted = "handler.started"

// Tracer creates a span for each delivery of an event to a handler. It is safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	roots  rootSampler // nil if the provider decides only in Start
	off    bool
}

// rootSampler is implemented by Provider.
type rootSampler interface {
	SampleRoot(ctx context.Context) (context.Context, bool)
}

// NewTracer returns a Tracer whose spans come from provider. With the Provider that Setup returns, an event that is not
// sampled costs no allocation; another provider allocates in Start before its sampler is asked.
func NewTracer(provider trace.TracerProvider) *Tracer {
	t := &Tracer{tracer: provider.Tracer(instrumentation, trace.WithSchemaURL(semconv.SchemaURL))}
	t.roots, _ = provider.(rootSampler)
	_, t.off = provider.(noop.TracerProvider)
	return t
}

// Deliver starts the span of an event that is about to be given to a handler. The span begins when the event was
// received, has an event at the moment that the handler is called, and lasts until end is called, which must happen
// once. end is nil if there is no span. traceID is empty unless the trace is sampled, and so can be an exemplar that
// resolves.
//
// namespace is the scope of the informer; "*" stands for all namespaces and is left out.
func (t *Tracer) Deliver(informerType, namespace, handler, event string, received time.Time) (end func(panicked bool), traceID string) {
	ctx := context.Background()
	if t.off {
		return nil, ""
	}
	if t.roots != nil {
		var keep bool
		if ctx, keep = t.roots.SampleRoot(ctx); !keep {
			return nil, ""
		}
	}
	return t.start(ctx, delivery{informerType, namespace, handler, event, received})
}

// delivery is an event on its way to a handler.
type delivery struct {
	informerType, namespace, handler, event string
	received                                time.Time
}

// start is separate from Deliver so that events that are not sampled do not allocate.
func (t *Tracer) start(ctx context.Context, d delivery) (func(bool), string) {
	attributes := []attribute.KeyValue{
		InformerTypeKey.String(d.informerType),
		InformerHandlerKey.String(d.handler),
		InformerEventKey.String(d.event),
	}
	if d.namespace != "" && d.namespace != "*" {
		attributes = append(attributes, semconv.K8SNamespaceName(d.namespace))
	}
	options := []trace.SpanStartOption{
		trace.WithNewRoot(),
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attributes...),
	}
	if !d.received.IsZero() {
		options = append(options, trace.WithTimestamp(d.received))
	}
	_, span := t.tracer.Start(ctx, "informer.deliver "+d.informerType, options...)
	if !span.IsRecording() {
		return nil, ""
	}
	span.AddEvent(handlerStarted)

	var traceID string
	if sc := span.SpanContext(); sc.IsSampled() {
		traceID = sc.TraceID().String()
	}
	return func(panicked bool) {
		if panicked {
			span.SetStatus(codes.Error, "the handler panicked")
		}
		span.End()
	}, traceID
}
