package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// Provider is a trace.TracerProvider that makes the sampling decision before it creates a root span. The SDK decides inside Start,
// after it has allocated; at thousands of events a second and one in a hundred sampled, that would be most of the cost of
// tracing.
//
// The zero value is not usable; see Setup.
type Provider struct {
	trace.TracerProvider

	keep     func(trace.TraceID) bool // nil if tracing is off
	shutdown func(context.Context) error
}

// Enabled reports whether spans can be recorded at all.
func (p *Provider) Enabled() bool { return p.keep != nil }

// Shutdown exports the spans that have ended and releases the provider's resources. It gives up when ctx ends.
func (p *Provider) Shutdown(ctx context.Context) error {
	if p.shutdown == nil {
		return nil
	}
	return p.shutdown(ctx)
}

// SampleRoot decides whether a new trace is sampled. If so, the span that is started with the returned context is its
// root. It does not allocate when the trace is not sampled.
func (p *Provider) SampleRoot(ctx context.Context) (context.Context, bool) {
	if p.keep == nil {
		return ctx, false
	}
	id := randomTraceID()
	if !p.keep(id) {
		return ctx, false
	}
	return context.WithValue(ctx, traceIDKey{}, id), true
}

// traceIDKey is the context key of the trace ID that SampleRoot decided on.
type traceIDKey struct{}

// ids generates random IDs, except that a root span gets the trace ID that SampleRoot decided on. The SDK's sampler
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
