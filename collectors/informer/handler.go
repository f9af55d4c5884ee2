package informer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// handler decorates an event handler. client-go calls it on one goroutine, in the order in which the store changed.
type handler struct {
	inner          cache.ResourceEventHandler
	isolated       bool
	handlerMetrics *handlerMetrics
	cursor         *ring.Cursor

	// These belong to the informer.
	shared     *shared
	id         ID
	metrics    *metrics
	connection *stream.Connection
	health     *health
	// echoes knows which of the events may be the program's own writes.
	echoes *echo.Handler

	// goroutine is the one on which client-go calls the handler, 0 before the first recorded span.
	goroutine uint64
	// registered is when the handler was registered: no event can have waited longer for it.
	registered int64
	// unremembered is when the event that the handler is processing was received if the ring does not have it: an object of a list, or
	// an event that was overwritten. It is 0 otherwise.
	unremembered atomic.Int64
	// handled is the resourceVersion of the last watch event that the handler has finished, or 0 if none.
	handled atomic.Uint64
	// lastResync is when the handler last got an object from a resync, in nanoseconds since 1970, 0 if never.
	lastResync atomic.Int64
	// resyncPeriod is 0 for never, negative if unknown.
	resyncPeriod time.Duration
}

var _ cache.ResourceEventHandler = &handler{}

// decorateHandler returns a handler that the caller registers with client-go and adds to the informer.
func (inf *informer) decorateHandler(h cache.ResourceEventHandler) *handler {
	inner, name, isolated := unwrapHandler(h)
	decorated := &handler{
		inner:          inner,
		isolated:       isolated,
		handlerMetrics: inf.claim.acquireHandler(name),
		cursor:         inf.connection.Ring.NewCursor(),
		shared:         inf.shared,
		id:             inf.id,
		metrics:        inf.metrics,
		connection:     inf.connection,
		health:         &inf.health,
		echoes:         echo.Of(inf.shared.Observer).Handler(),
		registered:     inf.shared.Now(),
	}
	runtime.AddCleanup(decorated, (*echo.Handler).End, decorated.echoes)
	return decorated
}

// String returns the decorated handler as text, because client-go formats handlers in errors.
func (h *handler) String() string { return fmt.Sprint(h.inner) }

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	var d delivery
	h.begin(&d, stream.EventAdded, obj, rv.Of(obj), isInInitialList)
	defer h.finish(&d)
	h.inner.OnAdd(obj, isInInitialList)
	d.returned = true
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(oldObj, newObj any) {
	var d delivery
	if version := rv.Of(newObj); version == rv.Of(oldObj) {
		// The call was not caused by an event, or a Transform removed the resourceVersion.
		d.start = h.shared.Now()
		if h.metrics.updates.unchangedVersion(oldObj, newObj, version) {
			h.lastResync.Store(time.Now().UnixNano())
		}
	} else {
		h.metrics.updates.changedVersion(oldObj, newObj)
		h.begin(&d, stream.EventModified, newObj, version, false)
	}
	defer h.finish(&d)
	h.inner.OnUpdate(oldObj, newObj)
	d.returned = true
}

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) {
	_, missed := obj.(cache.DeletedFinalStateUnknown)
	var d delivery
	h.begin(&d, stream.EventDeleted, obj, rv.Of(obj), missed)
	defer h.finish(&d)
	h.inner.OnDelete(obj)
	d.returned = true
}

// delivery is one call of a handler.
type delivery struct {
	// start is when the handler was called.
	start int64
	// event is set if the API server caused the call; received is when the event was received.
	event    bool
	received int64
	// list is the list that the object is from, nil for an event of a watch.
	list *stream.List
	// version is the resourceVersion of the watch event that caused the call, 0 for other causes.
	version uint64
	// paired is set if the cursor is at the event.
	paired bool
	// own is set if the event may be a write of the program.
	own bool
	// returned is set once the handler has returned instead of panicking.
	returned bool

	span core.Span
	// leave undoes Deliveries.Begin.
	leave func()
}

// begin determines what caused a call and when the cause was received. listed is set for an object of a list and for one that
// a list no longer had.
func (h *handler) begin(d *delivery, event string, object any, version string, listed bool) {
	d.start = h.shared.Now()
	h.setReceived(d, version, listed)
	d.own = h.echoes.Deliver(h.connection.Echo, d.version)
	if h.shared.Tracing != nil && d.event {
		h.shared.Tracing.Deliveries.Enter()
		h.beginSpan(d, event, object)
	}
}

// setReceived determines when the cause of a call was received. An object of a list counts from the end of the list, or
// from the registration of the handler if that was later. Without a cause, as for resourceVersions that are not numbers,
// the call is not an event: an unknown lag is not reported.
func (h *handler) setReceived(d *delivery, resourceVersion string, listed bool) {
	list := h.connection.LastList()
	if version, ok := rv.Parse(resourceVersion); ok && !listed {
		found := h.cursor.Find(version)
		if found.Lost > 0 {
			h.metrics.unmeasured.Add(float64(found.Lost))
		}
		switch found.Match {
		case ring.Exact:
			d.received, d.version, d.event, d.paired = found.At, version, true, true
			return
		case ring.Overrun:
			d.received, d.version, d.event = found.At, version, true
			h.unremembered.Store(d.received)
			return
		case ring.None:
			listed = list != nil && version <= list.Version
		}
	}
	if !listed || list == nil {
		return
	}
	d.received, d.event, d.list = max(list.At, h.registered), true, list
	h.unremembered.Store(d.received)
}

// finish records the end of a call. It is deferred, and recovers panics of isolated handlers only: any other panic is
// counted and continues.
func (h *handler) finish(d *delivery) {
	now := h.shared.Now()
	if d.own {
		h.echoes.Delivered()
	}
	if d.paired {
		h.cursor.Done()
	} else if d.event {
		h.unremembered.Store(0)
	}
	if d.version != 0 {
		h.handled.Store(d.version)
	}
	traceID := h.endSpan(d)
	if h.shared.Tracing != nil && d.event {
		h.shared.Tracing.Deliveries.Leave()
	}
	if !d.returned {
		h.handlerMetrics.panics.Inc()
		if h.isolated {
			h.logPanic(recover())
		}
		return
	}
	core.Observe(h.handlerMetrics.duration, core.Seconds(now-d.start), traceID)
	if d.event {
		h.health.check(now, time.Duration(now-d.received), h.shared.Objectives.EventLag)
	}
	if d.event && d.list == nil { // a long list is not late: its objects wait for each other
		core.Observe(h.metrics.eventLag, core.Seconds(now-d.received), traceID)
	}
}

func (h *handler) logPanic(value any) {
	if value == nil {
		return // the goroutine exits
	}
	h.shared.Logger.Error("isolated handler panicked, skipping the event", "informer_type", h.id.Type(),
		"watch_namespace", h.id.WatchNamespace(), "handler", h.handlerMetrics.name, "panic", value, "stack", string(debug.Stack()))
}

// beginSpan starts the span of a delivery.
func (h *handler) beginSpan(d *delivery, event string, object any) {
	t, l := h.shared.Tracing, h.metrics.labels
	traceparent, sampled := t.Traceparent(object), false
	if traceparent == "" {
		var start bool
		if start, sampled = t.Sample(spans.Deliver, false); !start {
			return
		}
	}
	o := spans.Operation{
		Kind: spans.Deliver, Name: l.informerType, WatchNamespace: l.watchNamespace, Handler: h.handlerMetrics.name, Event: event,
		Start: h.shared.Moment(d.received), Traceparent: traceparent, Decided: traceparent == "", Sampled: sampled,
	}
	if d.list != nil && d.list.Span.IsValid() {
		o.Links = []spans.Link{{SpanContext: d.list.Span, Relation: spans.Listed}}
	}
	d.span = t.Start(context.Background(), o)
	if d.span.IsRecorded() {
		h.recordSpan(d, object)
	}
}

// recordSpan makes the delivery the cause of items that the handler adds to queues. It is separate from beginSpan so that
// events that are not recorded do not allocate.
func (h *handler) recordSpan(d *delivery, object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	if o, err := meta.Accessor(object); err == nil {
		d.span.SetObject(o.GetNamespace(), o.GetName())
	}
	d.span.AddEvent(handlerStarted, h.shared.Moment(d.start))
	if h.goroutine == 0 {
		h.goroutine = core.Goroutine()
	}
	d.leave = h.shared.Tracing.Deliveries.Begin(h.goroutine, d.span.SpanContext())
}

// handlerStarted is the span event of the call of the handler.
const handlerStarted = "handler.started"

// endSpan ends the span of a delivery and returns its trace ID.
func (h *handler) endSpan(d *delivery) (traceID string) {
	if !d.span.IsRecorded() {
		return ""
	}
	d.leave()
	if d.returned {
		return d.span.End(spans.Result{})
	}
	return d.span.End(spans.Result{Failed: true, ErrorType: "panic", Err: errPanic})
}

var errPanic = errors.New("the handler panicked")

// backlog returns the number of events that the handler has not finished, and when the oldest was received.
func (h *handler) backlog() (pending uint64, oldest int64) {
	pending, oldest = h.cursor.Backlog()
	if received := h.unremembered.Load(); received != 0 {
		if pending == 0 || received < oldest {
			oldest = received
		}
		pending++
	}
	return pending, oldest
}

// waiting returns the number of events that have not been delivered to the handler.
func (h *handler) waiting() uint64 {
	pending, _ := h.cursor.Backlog()
	if pending > 0 && h.cursor.Busy() {
		pending--
	}
	return pending
}
