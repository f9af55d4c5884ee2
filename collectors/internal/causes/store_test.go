package causes_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/causes"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// fixture is a Queue of a controller, with its Observer and Tracer.
type fixture struct {
	*causes.Queue[string]
	tracer   *spantest.Tracer
	obs      *core.Observer
	registry *prometheus.Registry
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{tracer: &spantest.Tracer{}}
	obs, registry := observertest.New(t, func(o *collectors.Options) { o.Tracer = f.tracer })
	f.obs, f.registry = core.Of(obs), registry
	f.Queue = f.join()
	return f
}

// join returns another queue of the same name.
func (f *fixture) join() *causes.Queue[string] { return causes.Of[string](f.obs, "c").Join() }

// deliver runs a function as the handler of the n-th event.
func (f *fixture) deliver(n byte, call func()) {
	leave := f.obs.Tracing.Deliveries.Begin(core.Goroutine(), spans.SpanContext{TraceID: [16]byte{n}, SpanID: [8]byte{n}, Sampled: true})
	defer leave()
	call()
}

// process takes an item, fails, and calls a function before the item is done.
func (f *fixture) process(item string, again func()) spantest.Span {
	return f.processWith(item, spans.Result{Failed: true}, again)
}

func (f *fixture) processWith(item string, r spans.Result, again func()) spantest.Span {
	f.Taken(item, f.Choose(item), 0)
	_, span := causes.ReconcilesOf[string](f.obs, "c").Begin(context.Background(), item)
	span.End(r)
	if again != nil {
		again()
	}
	f.Done(item)
	all := f.tracer.Ended(spans.Reconcile)
	return all[len(all)-1]
}

// An event is the cause only of items that the goroutine of its handler adds while the handler runs.
func TestGoroutines(t *testing.T) {
	f := newFixture(t)
	f.deliver(1, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Added("other goroutine", spans.Event)
			f.deliver(2, func() { f.Added("both", spans.Event) })
		}()
		<-done
		f.Added("both", spans.Event)
		f.Added("both", spans.Event) // the same event again
	})
	f.Added("after", spans.Event)
	for item, want := range map[string]int{"other goroutine": 0, "after": 0, "both": 2} {
		if s := f.process(item, nil); len(s.Links) != want || s.Object != "/"+item {
			t.Errorf("%s: links %v, want %d", item, s.Links, want)
		}
	}
}

// A retry links to its previous attempt, and is not sampled forever because of it.
func TestRetries(t *testing.T) {
	f := newFixture(t)
	previous := f.process("a", func() { f.Added("a", spans.Retried) })
	for n := range 20 {
		want := spans.Link{SpanContext: previous.Context, Relation: spans.Retried}
		if n >= 16 {
			want.Relation = spans.Requeued
		}
		previous = f.process("a", func() { f.Added("a", spans.Retried) })
		if len(previous.Links) != 1 || previous.Links[0] != want {
			t.Fatalf("retry %d has the links %v, want %v", n+1, previous.Links, want)
		}
	}
	f.process("a", func() { f.Added("a", spans.Requeued) })
	if s := f.process("a", func() { f.Added("a", spans.Event) }); len(s.Links) != 1 || s.Links[0].Relation != spans.Requeued {
		t.Errorf("a requeue has the links %v", s.Links)
	}
	if s := f.process("a", nil); len(s.Links) != 0 {
		t.Errorf("an item that was added elsewhere has the links %v", s.Links)
	}
}

// An item that is added with the rate limiter after a success is a requeue, as with controller-runtime's Result.Requeue.
func TestRateLimitedRequeue(t *testing.T) {
	f := newFixture(t)
	for result, want := range map[spans.Result]spans.Relation{{}: spans.Requeued, {Failed: true}: spans.Retried} {
		f.processWith("a", result, func() { f.Added("a", spans.Retried) })
		if s := f.process("a", nil); len(s.Links) != 1 || s.Links[0].Relation != want {
			t.Errorf("after %+v, the links are %v, want the relation %v", result, s.Links, want)
		}
	}
}

// Links and items are limited and counted, and nothing remains after the queue has ended.
func TestLimits(t *testing.T) {
	f := newFixture(t)
	for n := range byte(40) {
		f.deliver(n+1, func() { f.Added("a", spans.Event) })
	}
	if s := f.process("a", nil); len(s.Links) != 32 || s.LinksDropped != 8 {
		t.Errorf("%d links, %d dropped", len(s.Links), s.LinksDropped)
	}
	f.deliver(1, func() {
		for n := range 10_003 {
			f.Added(fmt.Sprint(n), spans.Event)
		}
	})
	metricstest.Take(t, f.registry).Contains(t, metricstest.Snapshot{
		"controller_trace_links_dropped_total{reason=links}": 8, "controller_trace_links_dropped_total{reason=items}": 3,
	})
	f.process("0", nil)
	f.Leave()
	f.Queue = f.join() // a successor
	f.deliver(2, func() { f.Added("x", spans.Event) })
	if s := f.process("1", nil); len(s.Links) != 0 {
		t.Errorf("links %v of a queue that has ended", s.Links)
	}
	f.Leave()
	f.deliver(1, func() { f.Added("late", spans.Event) })
	f.Queue = f.join()
	if s := f.process("late", nil); len(s.Links) != 0 {
		t.Errorf("links %v of an Add after the end", s.Links)
	}
}

// The span of an item without a decorated reconcile function ends with Done, and one without a queue has no causes.
func TestWithoutTheOther(t *testing.T) {
	f := newFixture(t)
	f.Taken("ns/a", f.Choose("ns/a"), f.obs.Now())
	f.Done("ns/a")
	all, waits := f.tracer.Ended(spans.Reconcile), f.tracer.Ended(spans.Wait)
	if len(all) != 1 || all[0].Object != "ns/a" || len(waits) != 1 || waits[0].Parent != all[0].Context {
		t.Errorf("without a reconcile function: %v, %v", all, waits)
	}
	type request struct{ Namespace, Name string }
	ctx, span := causes.ReconcilesOf[request](f.obs, "c").Begin(t.Context(), request{"ns", "b"})
	if span.End(spans.Result{}); ctx == t.Context() {
		t.Error("the context has no span")
	}
	if all = f.tracer.Ended(spans.Reconcile); len(all) != 2 || all[1].Object != "ns/b" {
		t.Errorf("without a queue: %v", all)
	}
}
