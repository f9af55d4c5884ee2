package spans

import (
	"context"
	"time"
)

// Tracer starts the spans of operations, such as reconciles. Implementations must be safe for concurrent use.
//
// The library recovers panics of a Tracer or Span, and logs the first one. Only the span is lost. A Tracer that blocks also blocks
// the handler or the worker that it observes.
//
// A Tracer with a method Enabled() bool that returns false costs nothing: collectors.New drops it.
type Tracer interface {
	// Start starts the span of an operation and returns nil if it is not recorded. The span is a child of the span in ctx.
	// List, Deliver and Reconcile are roots: their context has no span. Request, Wait, Cleanup and Rollback need a
	// parent, and should not be recorded without one.
	//
	// Start is called for each event, request and reconcile. It should not allocate unless it records.
	Start(ctx context.Context, o Operation) Span
}

// Span is an operation in progress. Its methods are called by one goroutine at a time. End is the last of them except
// SpanContext, and is called exactly once.
type Span interface {
	// SpanContext identifies the span. It is also called after End, to attach an exemplar to a histogram.
	SpanContext() SpanContext
	// Context returns a context in which the span is the parent of new spans.
	Context(ctx context.Context) context.Context
	// SetObject sets the namespace and the name of the object that the operation is about. The namespace may be empty. Both
	// are unbounded and may be confidential.
	SetObject(namespace, name string)
	// AddEvent adds an event to the span. at is zero for now.
	AddEvent(name string, at time.Time)
	// End ends the span.
	End(r Result)
}

// SpanContext identifies a span, with the IDs of W3C Trace Context. The zero value is no span.
type SpanContext struct {
	TraceID [16]byte
	SpanID  [8]byte
	// Sampled is set if the span is exported.
	Sampled bool
}

// IsValid reports whether both IDs are set.
func (c SpanContext) IsValid() bool { return c.TraceID != [16]byte{} && c.SpanID != [8]byte{} }
