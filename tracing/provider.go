package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// Provider is a trace.TracerProvider that makes the sampling decision before it creates a root span. The SDK decides inside
// Start, after it has allocated. With thousands of events per second, one in a hundred of them sampled, these allocations
// would be most of the cost of tracing.
//
// The zero value is not usable; see Setup.
type Provider struct {
	trace.TracerProvider

	sampler  *sampler // nil if tracing is off
	shutdown func(context.Context) error
	counts   *exportCounts  // nil if tracing is off
	tail     *tailProcessor // nil unless reconciles that are not sampled are recorded
}

// Enabled reports whether spans can be recorded at all.
func (p *Provider) Enabled() bool { return p.sampler != nil }

// Shutdown exports the spans that have ended and releases the provider's resources. It gives up when ctx ends, or after five
// seconds if ctx has no deadline. Ended spans that are not exported by then are dropped and counted. Spans that end later are
// not counted.
func (p *Provider) Shutdown(ctx context.Context) error {
	if p.shutdown == nil {
		return nil
	}
	return p.shutdown(ctx)
}

// sampledRoot returns a context for the root of a trace that is sampled. The context must not be passed on.
func (p *Provider) sampledRoot(ctx context.Context) context.Context {
	return context.WithValue(ctx, traceIDKey{}, p.sampler.sampledTraceID())
}

// ExportedSpans returns the number of spans that the receiver has accepted.
func (p *Provider) ExportedSpans() uint64 {
	if p == nil || p.counts == nil { // for a Tracer with another provider
		return 0
	}
	return p.counts.exported.Load()
}

// DroppedSpans returns the numbers of dropped spans by reason, all reasons included. It returns nil if tracing is off.
func (p *Provider) DroppedSpans() map[string]uint64 {
	if p == nil || p.counts == nil {
		return nil
	}
	return map[string]uint64{
		DroppedQueueFull: p.counts.queueFull.Load(), DroppedExport: p.counts.export.Load(),
		DroppedShutdown: p.counts.shutdown.Load(), DroppedTail: p.counts.tail.Load(),
	}
}

// notSampledRoot returns a context for the root of a trace that is not sampled. The context must not be passed on.
func notSampledRoot(ctx context.Context) context.Context {
	return context.WithValue(ctx, notSampledKey{}, true)
}

// notSampledKey is the context key of notSampledRoot.
type notSampledKey struct{}

// traceIDKey is the context key of the trace ID of sampledRoot.
type traceIDKey struct{}

// ids generates random IDs, except that a root span gets the trace ID of sampledRoot. The SDK's sampler
// then makes the same decision, so that no trace is sampled twice. It implements the SDK's IDGenerator.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(traceIDKey{}).(trace.TraceID)
	if !ok {
		id = randomTraceID()
	}
	return id, randomSpanID()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return randomSpanID() }

func randomTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id
}

func randomSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
