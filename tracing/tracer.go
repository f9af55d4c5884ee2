package tracing

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.32.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// instrumentation names the spans' instrumentation scope.
const instrumentation = "github.com/informer-exporter/informer-exporter/tracing"

// TracerOptions configures a Tracer. The zero value is useful.
type TracerOptions struct {
	// ObjectNames adds the namespace and the name of the object to spans, and the text of errors, which usually has the name.
	// By default spans have neither, because all readers of traces would see the names of all tenants.
	ObjectNames bool
}

// Tracer starts the spans of the library. It implements collectors.Tracer and is safe for concurrent use.
type Tracer struct {
	tracer  trace.Tracer
	roots   *Provider // nil if the provider decides only in Start
	options TracerOptions
	off     bool
}

var (
	_ spans.Tracer  = &Tracer{}
	_ spans.Counter = &Tracer{}
	_ spans.Sampler = &Tracer{}
)

// NewTracer returns a Tracer with spans from provider. With the Provider that Setup returns, an operation that is not
// sampled costs a random number and no allocation; another provider allocates in Start before its sampler decides.
func NewTracer(provider trace.TracerProvider, options TracerOptions) *Tracer {
	t := &Tracer{tracer: provider.Tracer(instrumentation, trace.WithSchemaURL(semconv.SchemaURL)), options: options}
	t.roots, _ = provider.(*Provider)
	_, t.off = provider.(noop.TracerProvider)
	return t
}

// Enabled reports whether spans can be recorded at all. Otherwise collectors.New drops the Tracer.
func (t *Tracer) Enabled() bool { return !t.off && (t.roots == nil || t.roots.Enabled()) }

// Sample implements spans.Sampler.
func (t *Tracer) Sample(k spans.Kind, caused bool) (start, sampled bool) {
	switch {
	case t.off, t.roots != nil && !t.roots.Enabled():
		return false, false
	case t.roots == nil:
		return true, false // Start decides
	}
	follows := caused && t.roots.sampler.parentBased
	sampled = !follows && t.roots.sampler.draw()
	return sampled || t.hasTail(k), sampled
}

// FollowsCauses implements spans.Sampler.
func (t *Tracer) FollowsCauses() bool {
	return t.roots != nil && t.roots.Enabled() && t.roots.sampler.parentBased
}

// hasTail reports whether an operation is recorded even if it is not sampled.
func (t *Tracer) hasTail(k spans.Kind) bool { return t.roots.tail != nil && k == spans.Reconcile }

// IsRecording implements spans.Sampler.
func (t *Tracer) IsRecording(ctx context.Context) bool {
	return !t.off && trace.SpanFromContext(ctx).IsRecording()
}

// Start implements spans.Tracer.
func (t *Tracer) Start(ctx context.Context, o spans.Operation) spans.Span {
	if t.off {
		return nil
	}
	switch {
	case !isRoot(o.Kind):
		if !trace.SpanFromContext(ctx).IsRecording() {
			return nil
		}
	case o.Traceparent != "":
		return t.startLinked(ctx, o)
	case t.roots == nil, isCaused(o.Links):
	default:
		start, sampled := o.Sampled || t.hasTail(o.Kind), o.Sampled
		if !o.Decided {
			start, sampled = t.Sample(o.Kind, false)
		}
		switch {
		case !start:
			return nil
		case sampled:
			ctx = t.roots.sampledRoot(ctx)
		default:
			ctx = notSampledRoot(ctx)
		}
	}
	return t.start(ctx, o)
}

// startLinked starts the span of an event on an object that carries a trace context.
func (t *Tracer) startLinked(ctx context.Context, o spans.Operation) spans.Span {
	var remote trace.SpanContext
	switch {
	case t.roots == nil:
		remote = parseTraceparent(o.Traceparent)
	case !t.roots.Enabled():
		return nil
	default:
		follow := t.roots.sampler.followsRemote() && hasSampledFlag(o.Traceparent)
		if follow {
			remote = parseTraceparent(o.Traceparent)
			follow = t.roots.sampler.follows(remote)
		}
		if !follow {
			if !t.roots.sampler.draw() {
				return nil // most events: nothing was parsed
			}
			remote, ctx = parseTraceparent(o.Traceparent), t.roots.sampledRoot(ctx)
		}
	}
	if !remote.IsValid() {
		return t.start(ctx, o)
	}
	return t.start(ctx, o, trace.WithLinks(trace.Link{
		SpanContext: remote, Attributes: []attribute.KeyValue{LinkRelationKey.String(relationAnnotation)},
	}))
}

// ExportedSpans implements spans.Counter. It returns 0 unless the provider is that of Setup.
func (t *Tracer) ExportedSpans() uint64 { return t.roots.ExportedSpans() }

// DroppedSpans implements spans.Counter. It returns nil unless the provider is that of Setup.
func (t *Tracer) DroppedSpans() map[string]uint64 { return t.roots.DroppedSpans() }

// isRoot reports whether an operation begins a trace.
func isRoot(k spans.Kind) bool { return k == spans.List || k == spans.Deliver || k == spans.Reconcile }

// isCaused reports whether a cause is sampled, so that the operation is sampled as well.
func isCaused(links []spans.Link) bool {
	for _, l := range links {
		if l.Sampled && l.Relation.Samples() {
			return true
		}
	}
	return false
}

// start is separate from Start so that operations that are not sampled do not allocate.
func (t *Tracer) start(ctx context.Context, o spans.Operation, more ...trace.SpanStartOption) spans.Span {
	o = withValidTexts(o)
	attributes := attributesOf(o)
	parent := trace.SpanFromContext(ctx)
	options := make([]trace.SpanStartOption, 0, 6)
	options = append(append(options, trace.WithSpanKind(kindOf(o.Kind))), more...)
	if isRoot(o.Kind) && parent.SpanContext().IsValid() {
		options = append(options, trace.WithNewRoot())
	}
	if !o.Start.IsZero() {
		options = append(options, trace.WithTimestamp(o.Start))
	}
	if len(o.Links) > 0 {
		options = append(options, trace.WithLinks(linksOf(o.Links)...))
	}
	if o.LinksDropped > 0 {
		attributes = append(attributes, LinksDroppedKey.Int(o.LinksDropped))
	}
	_, otel := t.tracer.Start(ctx, nameOf(o), append(options, trace.WithAttributes(attributes...))...)
	if !otel.IsRecording() {
		return nil
	}
	if o.Kind == spans.Rollback {
		parent.AddEvent(eventRollback, trace.WithAttributes(FinalizerKey.String(o.Finalizer)))
	}
	s := &span{otel: otel, names: t.options.ObjectNames}
	if o.Kind == spans.Reconcile && t.roots != nil && !otel.SpanContext().IsSampled() {
		s.tail = t.roots.tail
	}
	return s
}

// eventRollback is the span event of a reconcile that rolls back a finalizer cleanup.
const eventRollback = "finalizer.rollback"

// span implements spans.Span.
type span struct {
	otel trace.Span
	// names is TracerOptions.ObjectNames.
	names bool
	// tail decides on the span when it ends, nil if it is sampled. kept is the decision.
	tail *tailProcessor
	kept atomic.Bool
}

// SpanContext implements spans.Span. After the end of a reconcile that Tail keeps, it is sampled.
func (s *span) SpanContext() spans.SpanContext {
	c := s.otel.SpanContext()
	return spans.SpanContext{TraceID: c.TraceID(), SpanID: c.SpanID(), Sampled: c.IsSampled() || s.kept.Load()}
}

// Context implements spans.Span.
func (s *span) Context(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, s.otel)
}

// SetObject implements spans.Span.
func (s *span) SetObject(namespace, name string) {
	if !s.names {
		return
	}
	if namespace != "" {
		s.otel.SetAttributes(semconv.K8SNamespaceName(validText(namespace, maxName)))
	}
	s.otel.SetAttributes(ObjectNameKey.String(validText(name, maxName)))
}

// AddEvent implements spans.Span.
func (s *span) AddEvent(name string, at time.Time) {
	name = validText(name, maxName)
	if at.IsZero() {
		s.otel.AddEvent(name)
		return
	}
	s.otel.AddEvent(name, trace.WithTimestamp(at))
}

// End implements spans.Span.
func (s *span) End(r spans.Result) {
	if r.Result != "" {
		s.otel.SetAttributes(ResultKey.String(validText(r.Result, maxName)))
	}
	if r.Code != 0 {
		s.otel.SetAttributes(semconv.HTTPResponseStatusCode(r.Code))
	}
	if r.Items != 0 {
		s.otel.SetAttributes(ListItemsKey.Int(r.Items))
	}
	if r.ErrorType != "" {
		s.otel.SetAttributes(semconv.ErrorTypeKey.String(validText(r.ErrorType, maxName)))
	}
	if r.Failed {
		description := r.ErrorType
		if s.names && r.Err != nil {
			description = r.Err.Error()
		}
		s.otel.SetStatus(codes.Error, validText(description, maxDescription))
	}
	var options []trace.SpanEndOption
	if !r.End.IsZero() {
		options = append(options, trace.WithTimestamp(r.End))
	}
	if s.tail == nil {
		s.otel.End(options...)
		return
	}
	s.kept.Store(s.tail.decide(s.otel.SpanContext().SpanID(), func() { s.otel.End(options...) }))
}
