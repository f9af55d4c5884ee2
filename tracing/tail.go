package tracing

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tail keeps the traces of slow and failed reconciles at any sampling ratio. The zero value keeps none.
//
// Every reconcile is then recorded and held in memory until it ends, which costs a few microseconds and allocations per reconcile
// and per request in it. Events that are not sampled still cost nothing.
type Tail struct {
	// Slow keeps reconciles that take at least this long. 0 disables it.
	Slow time.Duration
	// Failed keeps reconciles that end with an error.
	Failed bool
	// MaxSpans limits the spans in memory. The default is 2048. Above it, spans are dropped and counted; the span of a slow or
	// failed reconcile itself is still kept.
	MaxSpans int
}

func (t Tail) enabled() bool { return t.Slow > 0 || t.Failed }

// keeps reports whether the reconcile with this span is slow or has failed.
func (t Tail) keeps(reconcile sdktrace.ReadOnlySpan) bool {
	return t.Failed && reconcile.Status().Code == codes.Error ||
		t.Slow > 0 && reconcile.EndTime().Sub(reconcile.StartTime()) >= t.Slow
}

// tailProcessor holds spans that are recorded but not sampled until their reconcile ends. It then passes them on as sampled, or
// discards them. A reconcile is the root of its trace, so the trace ID identifies it.
type tailProcessor struct {
	sdktrace.SpanProcessor // the next one

	tail   Tail
	counts *exportCounts

	mu    sync.Mutex
	ended bool
	held  map[trace.TraceID][]sdktrace.ReadOnlySpan // of running reconciles
	spans int                                       // in held, one for each reconcile included
	// kept has the decisions on the reconciles for which decide is running.
	kept map[trace.SpanID]bool
}

func newTailProcessor(next sdktrace.SpanProcessor, tail Tail, counts *exportCounts) *tailProcessor {
	if tail.MaxSpans <= 0 {
		tail.MaxSpans = defaultQueueSize
	}
	return &tailProcessor{SpanProcessor: next, tail: tail, counts: counts, held: map[trace.TraceID][]sdktrace.ReadOnlySpan{}, kept: map[trace.SpanID]bool{}}
}

// OnStart makes room for a reconcile.
func (p *tailProcessor) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	p.SpanProcessor.OnStart(ctx, s)
	if s.SpanContext().IsSampled() || s.Parent().IsValid() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spans < p.tail.MaxSpans && !p.ended {
		p.held[s.SpanContext().TraceID()] = nil
		p.spans++
	}
}

// OnEnd holds a span, or decides on a reconcile.
func (p *tailProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	sc := s.SpanContext()
	switch {
	case sc.IsSampled():
		p.SpanProcessor.OnEnd(s)
	case s.Parent().IsValid():
		p.hold(sc.TraceID(), s)
	default:
		children := p.release(sc.TraceID())
		if !p.tail.keeps(s) {
			return
		}
		p.keep(sc.SpanID())
		for _, child := range children {
			p.SpanProcessor.OnEnd(keptSpan{child})
		}
		p.SpanProcessor.OnEnd(keptSpan{s})
	}
}

// decide ends a reconcile, and reports whether it is kept.
func (p *tailProcessor) decide(id trace.SpanID, end func()) bool {
	p.mu.Lock()
	p.kept[id] = false
	p.mu.Unlock()
	end()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer delete(p.kept, id)
	return p.kept[id]
}

func (p *tailProcessor) keep(id trace.SpanID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, asked := p.kept[id]; asked {
		p.kept[id] = true
	}
}

// hold holds a span until its reconcile ends. It counts a span for which there is no room as dropped, and discards one that ends after
// its reconcile.
func (p *tailProcessor) hold(id trace.TraceID, s sdktrace.ReadOnlySpan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	children, running := p.held[id]
	switch {
	case p.ended:
		p.counts.shutdown.Add(1)
	case p.spans >= p.tail.MaxSpans:
		p.counts.tail.Add(1)
	case running:
		p.held[id] = append(children, s)
		p.spans++
	}
}

// Shutdown drops the spans of reconciles that are running.
func (p *tailProcessor) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	for _, children := range p.held {
		p.counts.shutdown.Add(uint64(len(children)))
	}
	p.held, p.spans, p.ended = nil, 0, true
	p.mu.Unlock()
	return p.SpanProcessor.Shutdown(ctx)
}

func (p *tailProcessor) release(id trace.TraceID) []sdktrace.ReadOnlySpan {
	p.mu.Lock()
	defer p.mu.Unlock()
	children, ok := p.held[id]
	if ok {
		delete(p.held, id)
		p.spans -= len(children) + 1
	}
	return children
}

// keptSpan is a span that was sampled after it had ended.
type keptSpan struct{ sdktrace.ReadOnlySpan }

// SpanContext returns the span's context with the sampled flag, without which it would not be exported.
func (s keptSpan) SpanContext() trace.SpanContext {
	sc := s.ReadOnlySpan.SpanContext()
	return sc.WithTraceFlags(sc.TraceFlags() | trace.FlagsSampled)
}
