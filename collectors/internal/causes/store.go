package causes

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

const (
	// maxItems limits the items with causes of a queue and, separately, the items in progress with a span.
	maxItems = 10_000
	// maxLinks limits the links of a reconcile. OpenTelemetry's SDK keeps 128 by default.
	maxLinks = 32
	// maxAttempts limits the attempts in a row that are sampled because the previous one was. Otherwise an object that always fails
	// would be sampled forever.
	maxAttempts = 16
)

// Values of the label reason of catalog.ControllerTraceLinksDropped.
const (
	droppedLinks = "links"
	droppedItems = "items"
)

// Store holds the spans of items that are being processed, of all queues of a controller: one with its name, or several, as with
// a manager for each cluster. A reconcile function does not know which queue its item is from. All methods are safe for
// concurrent use, and have no effect on a nil Store.
type Store[T comparable] struct {
	obs        *core.Observer
	controller string
	dropped    *core.CounterSet

	// queues is the number of queues that use the Store. Without any, the reconcile function starts the spans.
	queues atomic.Int64
	// isTaken is set while taken has entries. Otherwise no lock is needed.
	isTaken atomic.Bool

	mu sync.Mutex
	// taken has the items with a span that a worker has taken and not finished, with at most one entry for each queue.
	taken map[T][]*taken[T]
}

// Queue holds the causes of items in one queue. The decorated queue calls its methods, which are safe for concurrent use, and
// have no effect on a nil Queue.
type Queue[T comparable] struct {
	store *Store[T]
	// isPending is set while pending has entries. Otherwise no lock is needed.
	isPending atomic.Bool

	// pending has the causes of items that no worker has taken yet. It is nil after Leave, and guarded by the lock of the
	// Store.
	pending map[T]*pending
}

// pending are the causes of the next reconcile of an item.
type pending struct {
	// sampled is set if the item was added without a known cause, and the Sampler has decided to sample it.
	sampled bool
	// since is the time of the first Add that has a cause, 0 if there is none.
	since   int64
	links   []spans.Link
	dropped int
	// attempt is the number of failed attempts in a row.
	attempt int
}

// taken is an item in progress.
type taken[T comparable] struct {
	queue *Queue[T]
	// goroutine is the goroutine of the worker. It is 0 if the controller has only one queue.
	goroutine uint64
	span      core.Span
	context   spans.SpanContext
	attempt   int
	// outcome is set when the reconcile function ends the span.
	outcome core.Outcome
	// begun is set once a reconcile function has the span. The function then ends it.
	begun bool
}

// Join adds a queue.
func (s *Store[T]) Join() *Queue[T] {
	if s == nil {
		return nil
	}
	s.queues.Add(1)
	return &Queue[T]{store: s, pending: map[T]*pending{}}
}

// Leave removes a queue, with all causes that no worker has taken. It must be called once.
func (q *Queue[T]) Leave() {
	if q == nil {
		return
	}
	s := q.store
	s.queues.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	q.pending = nil
	q.isPending.Store(false)
}

// in returns the queue's entry among those of an item, nil if there is none. The lock must be held.
func (q *Queue[T]) in(all []*taken[T]) *taken[T] {
	for _, t := range all {
		if t.queue == q {
			return t
		}
	}
	return nil
}

// Added records the cause of an Add, before the item is added: the event that is being delivered on this goroutine, or else the
// attempt in progress with the given relation. spans.Event stands for an Add that is neither a retry nor a requeue.
//
// One sampling decision applies to an event and its Adds. An Add caused by an event that is not sampled is not sampled either.
// To save the cost, the goroutine of such an event is not recorded: while it is being delivered, it counts as the cause of
// every Add without another cause, on any goroutine. An Add without a cause is sampled by ratio. So is an Add after an attempt
// that was not sampled, because items that always fail or are always requeued would otherwise never be sampled.
func (q *Queue[T]) Added(item T, relation spans.Relation) {
	if q == nil {
		return
	}
	event, isEvent := q.store.obs.Tracing.Deliveries.Current()
	if isEvent {
		relation = spans.Event
	}
	if isEvent || relation != spans.Event && q.store.isTaken.Load() {
		if q.add(item, spans.Link{SpanContext: event, Relation: relation}) {
			return
		}
	}
	tracing := q.store.obs.Tracing
	if !tracing.FollowsCauses() || tracing.Deliveries.Running() {
		return
	}
	if _, sampled := tracing.Sample(spans.Reconcile, false); sampled {
		q.addSampled(item)
	}
}

// addSampled makes the next reconcile of an item sampled.
func (q *Queue[T]) addSampled(item T) {
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	if p := q.entry(item); p != nil {
		p.sampled = true
	}
}

// entry returns the causes of an item, nil if there is no room or the queue has ended. The lock must be held.
func (q *Queue[T]) entry(item T) *pending {
	p := q.pending[item]
	switch {
	case p != nil, q.pending == nil:
	case len(q.pending) >= maxItems:
		q.store.dropped.Inc(droppedItems)
	default:
		p = &pending{}
		q.pending[item] = p
		q.isPending.Store(true)
	}
	return p
}

// add adds a cause. It returns false if there is none, because the attempt in progress has no span.
func (q *Queue[T]) add(item T, link spans.Link) bool {
	s := q.store
	s.mu.Lock()
	defer s.mu.Unlock()
	attempt := 0
	if link.Relation != spans.Event {
		previous := q.in(s.taken[item])
		if previous == nil {
			return false
		}
		link.SpanContext = previous.context
		if previous.outcome.Succeeded() { // it asked for another attempt, with the rate limiter's delay
			link.Relation = spans.Requeued
		}
		if link.Relation == spans.Retried {
			attempt = previous.attempt + 1
		}
		if attempt > maxAttempts {
			link.Relation = spans.Requeued
		}
	}
	p := q.entry(item)
	if p == nil {
		return true
	}
	if p.since == 0 {
		p.since = s.obs.Now()
	}
	last := len(p.links) - 1
	if last >= 0 && p.links[last] == link {
		return true // one event that adds the item twice
	}
	p.attempt = max(p.attempt, attempt)
	if len(p.links) >= maxLinks {
		p.dropped++
		s.dropped.Inc(droppedLinks)
		return true
	}
	p.links = append(p.links, link)
	return true
}

// Choice is the decision on the span of a reconcile.
type Choice struct {
	// Start is set if Taken must be called.
	Start bool
	// decided and sampled become the fields Decided and Sampled of the spans.Operation.
	decided, sampled bool
}

// Choose decides on the span of a reconcile when the queue hands out the item. It takes no lock unless items have causes. After
// the end of the last queue, the reconcile function starts the span, because a queue that has been shut down still hands out its
// remaining items.
func (q *Queue[T]) Choose(item T) (c Choice) {
	if q == nil || !q.store.hasQueue() {
		return c
	}
	if q.isPending.Load() {
		if c = q.recorded(item); c.Start {
			return c
		}
	}
	// The item has no sampled cause, or it has no cause and Added has decided.
	c.decided = true
	c.Start, c.sampled = q.store.obs.Tracing.Sample(spans.Reconcile, true)
	return c
}

// recorded returns the choice for an item with causes, or one that Added has sampled.
func (q *Queue[T]) recorded(item T) (c Choice) {
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	if p := q.pending[item]; p != nil {
		c = Choice{Start: true, decided: p.sampled, sampled: p.sampled}
	}
	return c
}

// Taken starts the span of a reconcile that Choose has chosen, after the queue has handed out the item. ready is when the item
// became ready, 0 if that is not known. It returns the trace ID for exemplars, "" if the span is not sampled.
func (q *Queue[T]) Taken(item T, c Choice, ready int64) (traceID string) {
	if !c.Start {
		return ""
	}
	s := q.store
	var p *pending
	if q.isPending.Load() {
		p = q.take(item)
	}
	o := spans.Operation{Kind: spans.Reconcile, Name: s.controller, Decided: c.decided, Sampled: c.sampled}
	if p != nil {
		o.Links, o.LinksDropped = p.links, p.dropped
	}
	if span := s.obs.Tracing.Start(context.Background(), o); span.IsRecorded() {
		q.record(item, span, p, ready)
		return span.TraceID()
	}
	return ""
}

// take removes the causes of an item.
func (q *Queue[T]) take(item T) *pending {
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	p := q.pending[item]
	delete(q.pending, item)
	q.isPending.Store(len(q.pending) > 0)
	return p
}

// record adds the time in the queue to a span, and keeps the span for the reconcile function.
func (q *Queue[T]) record(item T, span core.Span, p *pending, ready int64) {
	s := q.store
	now := s.obs.Moment(s.obs.Now())
	since := ready
	t := &taken[T]{queue: q, span: span, context: span.SpanContext()}
	if s.queues.Load() > 1 {
		t.goroutine = core.Goroutine()
	}
	if p != nil {
		since, t.attempt = cmp.Or(p.since, ready), p.attempt
	}
	if since != 0 {
		wait := s.obs.Tracing.Start(span.Context(context.Background()), spans.Operation{Kind: spans.Wait, Name: s.controller, Start: s.obs.Moment(since)})
		if ready > since {
			wait.AddEvent(eventReady, s.obs.Moment(ready)) // after a backoff or a delay, or the end of the previous attempt
		}
		wait.End(spans.Result{End: now})
	}
	span.SetObject(objectOf(item))

	s.mu.Lock()
	defer s.mu.Unlock()
	if q.in(s.taken[item]) != nil || len(s.taken) >= maxItems {
		s.dropped.Inc(droppedItems)
		go span.End(spans.Result{}) // without the lock
		return
	}
	s.taken[item] = append(s.taken[item], t)
	s.isTaken.Store(true)
}

// eventReady is the span event at the time the item became ready for a worker.
const eventReady = "workqueue.ready"

// Done ends the span of an item unless a reconcile function has begun with it. The queue calls it when a worker has finished
// the item.
func (q *Queue[T]) Done(item T) {
	if q == nil || !q.store.isTaken.Load() {
		return
	}
	s := q.store
	s.mu.Lock()
	t := q.in(s.taken[item])
	if others := slices.DeleteFunc(s.taken[item], func(other *taken[T]) bool { return other == t }); len(others) > 0 {
		s.taken[item] = others
	} else {
		delete(s.taken, item)
	}
	s.isTaken.Store(len(s.taken) > 0)
	s.mu.Unlock()
	if t != nil && !t.begun {
		t.span.End(spans.Result{})
	}
}

// hasQueue reports whether a queue uses the Store. If so, the queue starts the spans.
func (s *Store[T]) hasQueue() bool { return s.queues.Load() > 0 }

// begin returns the span that Taken has started. If several queues have handed out the item, begin returns the span of the
// current goroutine, because a worker calls both on one goroutine, or else the first span that no reconcile function has.
func (s *Store[T]) begin(item T) core.Span {
	if !s.isTaken.Load() {
		return core.Span{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := slices.DeleteFunc(slices.Clone(s.taken[item]), func(t *taken[T]) bool { return t.begun })
	if len(waiting) == 0 {
		return core.Span{}
	}
	t := waiting[0]
	if len(waiting) > 1 {
		goroutine := core.Goroutine()
		if i := slices.IndexFunc(waiting, func(t *taken[T]) bool { return t.goroutine == goroutine }); i >= 0 {
			t = waiting[i]
		}
	}
	t.begun = true
	return t.span.WithOutcome(&t.outcome)
}
