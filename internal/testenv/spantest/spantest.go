// Package spantest provides a Tracer that records spans in memory.
package spantest

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Tracer records spans. The zero value samples all of them.
type Tracer struct {
	// Sample decides whether an operation is sampled. Nil samples all.
	Sample func(spans.Operation) bool

	mu    sync.Mutex
	next  uint64
	ended []Span
}

// Span is a span that has ended.
type Span struct {
	spans.Operation
	spans.Result
	Context, Parent spans.SpanContext
	// Object is namespace/name.
	Object string
	Events []string
}

type parentKey struct{}

// Start implements spans.Tracer.
func (t *Tracer) Start(ctx context.Context, o spans.Operation) spans.Span {
	if t.Sample != nil && !t.Sample(o) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	s := &span{tracer: t}
	o.Links = slices.Clone(o.Links)
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	s.Operation = o
	s.Parent, _ = ctx.Value(parentKey{}).(spans.SpanContext)
	s.Span.Context = spans.SpanContext{TraceID: s.Parent.TraceID, Sampled: true}
	if !s.Parent.IsValid() {
		binary.BigEndian.PutUint64(s.Span.Context.TraceID[8:], t.next)
	}
	binary.BigEndian.PutUint64(s.Span.Context.SpanID[:], t.next)
	return s
}

// Ended returns the spans of a kind that have ended, in the order of their end.
func (t *Tracer) Ended(k spans.Kind) (all []Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.ended {
		if s.Kind == k {
			all = append(all, s)
		}
	}
	return all
}

type span struct {
	Span
	tracer *Tracer
}

func (s *span) SpanContext() spans.SpanContext { return s.Span.Context }

func (s *span) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, parentKey{}, s.Span.Context)
}

func (s *span) SetObject(namespace, name string) { s.Object = namespace + "/" + name }

func (s *span) AddEvent(name string, _ time.Time) { s.Events = append(s.Events, name) }

func (s *span) End(r spans.Result) {
	if r.End.IsZero() {
		r.End = time.Now()
	}
	s.Result = r
	s.tracer.mu.Lock()
	defer s.tracer.mu.Unlock()
	s.tracer.ended = append(s.tracer.ended, s.Span)
}

// Sampler is a Tracer that also implements spans.Sampler. The embedded Tracer's Sample must be nil.
type Sampler struct {
	Tracer
	// Choose decides whether an operation is sampled. An operation with causes that are not sampled is never sampled.
	Choose func(spans.Kind) bool
}

// Sample implements spans.Sampler.
func (s *Sampler) Sample(k spans.Kind, caused bool) (start, sampled bool) {
	chosen := !caused && s.Choose(k)
	return chosen, chosen
}

// FollowsCauses implements spans.Sampler.
func (*Sampler) FollowsCauses() bool { return true }

// IsRecording implements spans.Sampler.
func (*Sampler) IsRecording(ctx context.Context) bool { return ctx.Value(parentKey{}) != nil }
