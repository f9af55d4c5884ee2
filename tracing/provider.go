package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// Provider is a trace.TracerProvider that decides on a root span before there is one. The SDK decides inside Start,
// after it has allocated; at thousands of events a second and one kept in a hundred that would be most of the cost of
// tracing.
//
// The zero value is not usable; see Setup.
type Provider struct {
	trace.TracerProvider

	keep     func(trace.TraceID) bool // nil if nothing is ever traced
	shutdown func(context.Context) error
}

// Enabled tells whether spans can be recorded at all.
func (p *Provider) Enabled() bool { return p.keep != nil }

// Shutdown exports the spans that have ended and releases the provider's resources. It gives up when ctx ends.
func (p *Provider) Shutdown(ctx context.Context) error {
	if p.shutdown == nil {
		return nil
	}
	return p.shutdown(ctx)
}

// SampleRoot decides whether a new trace is kept. If so, the span that is started with the returned context is its
// root. It does not allocate when the trace is not kept.
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

// traceIDKey is the context key of the trace id that SampleRoot decided on.
type traceIDKey struct{}

// ids generates random ids, except that a root span gets the trace id that SampleRoot has decided on. The SDK's sampler
// then comes to the same decision, so that no trace is sampled twice. It implements the SDK's IDGenerator.
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
