package core

import (
	"context"
	"encoding/hex"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Tracing is the Tracer of a program. It recovers panics of the Tracer and of its spans, and logs the first one. A nil
// Tracing starts no spans.
type Tracing struct {
	// Deliveries are the deliveries in progress.
	Deliveries Deliveries

	tracer   spans.Tracer
	sampler  spans.Sampler // nil if the Tracer decides only in Start
	follows  bool          // spans.Sampler.FollowsCauses
	logger   *slog.Logger
	panicked sync.Once
}

func newTracing(tracer spans.Tracer, logger *slog.Logger) *Tracing {
	if tracer == nil {
		return nil
	}
	if t, ok := tracer.(interface{ Enabled() bool }); ok && !t.Enabled() {
		return nil
	}
	sampler, _ := tracer.(spans.Sampler)
	return &Tracing{tracer: tracer, sampler: sampler, follows: sampler != nil && sampler.FollowsCauses(), logger: logger}
}

// FollowsCauses reports whether a root with known causes is sampled only if one of them is.
func (t *Tracing) FollowsCauses() bool { return t != nil && t.follows }

// Sample decides on a root: whether to call Start, and with which value of Operation.Sampled. See spans.Sampler.
func (t *Tracing) Sample(k spans.Kind, caused bool) (start, sampled bool) {
	if t == nil {
		return false, false
	}
	if t.sampler == nil {
		return true, false
	}
	t.call(func() { start, sampled = t.sampler.Sample(k, caused) })
	return start, sampled
}

// MayRecord reports whether an operation that needs a parent may be recorded. It returns false if the Sampler finds no recorded
// span in ctx.
func (t *Tracing) MayRecord(ctx context.Context) (may bool) {
	if t == nil {
		return false
	}
	if t.sampler == nil {
		return true
	}
	t.call(func() { may = t.sampler.IsRecording(ctx) })
	return may
}

// Start starts a span. It does not allocate unless the Tracer does.
func (t *Tracing) Start(ctx context.Context, o spans.Operation) (s Span) {
	if t == nil {
		return s
	}
	t.call(func() { s = Span{tracing: t, span: t.tracer.Start(ctx, o)} })
	return s
}

// collect sends the Tracer's counts of exported and dropped spans.
func (t *Tracing) collect(v *Vectors, ch chan<- prometheus.Metric) {
	if t == nil {
		return
	}
	counter, ok := t.tracer.(spans.Counter)
	if !ok {
		return
	}
	var exported uint64
	var dropped map[string]uint64
	// A panic would fail the whole scrape.
	t.call(func() { exported, dropped = counter.ExportedSpans(), counter.DroppedSpans() })
	if dropped == nil {
		return
	}
	v.SendCounter(ch, catalog.TraceSpansExported, float64(exported))
	for _, reason := range closedSet(catalog.TraceSpansDropped.Metric) {
		v.SendCounter(ch, catalog.TraceSpansDropped, float64(dropped[reason]), reason)
	}
}

// call calls f, which calls one method of the Tracer. If that panics, f assigns no result.
func (t *Tracing) call(f func()) {
	returned := false
	defer func() {
		if !returned {
			t.logPanic(recover())
		}
	}()
	f()
	returned = true
}

// logPanic logs the first panic only: the Tracer may panic for each event.
func (t *Tracing) logPanic(value any) {
	t.panicked.Do(func() {
		t.logger.Error("tracer panicked; further panics are not logged", "panic", value, "stack", string(debug.Stack()))
	})
}

// Span is a span in progress. The zero value is no span; its methods have no effect.
type Span struct {
	tracing *Tracing
	span    spans.Span
	outcome *Outcome
}

// Outcome records whether a span has succeeded. It is safe for concurrent use.
type Outcome struct{ succeeded atomic.Bool }

// Succeeded reports whether the span has ended without a failure.
func (o *Outcome) Succeeded() bool { return o.succeeded.Load() }

// WithOutcome returns the span. Its End also sets the outcome.
func (s Span) WithOutcome(o *Outcome) Span {
	s.outcome = o
	return s
}

// IsRecorded reports whether there is a span.
func (s Span) IsRecorded() bool { return s.span != nil }

// Context returns a context in which the span is the parent of new spans.
func (s Span) Context(ctx context.Context) context.Context {
	child := ctx
	s.call(func() { child = s.span.Context(ctx) })
	if child == nil {
		return ctx
	}
	return child
}

// SpanContext identifies the span.
func (s Span) SpanContext() (c spans.SpanContext) {
	s.call(func() { c = s.span.SpanContext() })
	return c
}

// SetObject sets the object of the operation.
func (s Span) SetObject(namespace, name string) {
	s.call(func() { s.span.SetObject(namespace, name) })
}

// AddEvent adds an event.
func (s Span) AddEvent(name string, at time.Time) {
	s.call(func() { s.span.AddEvent(name, at) })
}

// End ends the span and returns its trace ID for exemplars, "" if it is not sampled.
func (s Span) End(r spans.Result) (traceID string) {
	if s.outcome != nil {
		s.outcome.succeeded.Store(!r.Failed)
	}
	s.call(func() { s.span.End(r) })
	return s.TraceID()
}

// TraceID returns the trace ID, "" if the span is not sampled.
func (s Span) TraceID() string {
	if c := s.SpanContext(); c.Sampled && c.IsValid() {
		return hex.EncodeToString(c.TraceID[:])
	}
	return ""
}

// call calls a method of the span, if there is one.
func (s Span) call(f func()) {
	if s.span != nil {
		s.tracing.call(f)
	}
}
