package informer

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
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

	// registered is when the handler was registered: no event can have waited longer for it.
	registered int64
	// listReceived is when the object in the handler was received in a list, 0 otherwise. The ring has the events of
	// watches.
	listReceived atomic.Int64
	// handled is the resourceVersion of the last watch event that the handler has finished, 0 before.
	handled atomic.Uint64
	// lastResync is when the handler last got an object from a resync, in nanoseconds since 1970, 0 if never.
	lastResync atomic.Int64
	// resyncPeriod is 0 for never, negative if unknown.
	resyncPeriod time.Duration
}

var _ cache.ResourceEventHandler = &handler{}

// newHandler decorates a handler of the informer to which the other arguments belong.
func newHandler(s *shared, id ID, m *metrics, c *stream.Connection, h cache.ResourceEventHandler) *handler {
	inner, name, isolated := unwrapHandler(h)
	return &handler{
		inner:          inner,
		isolated:       isolated,
		handlerMetrics: m.acquireHandler(name),
		cursor:         c.Ring.NewCursor(),
		shared:         s,
		id:             id,
		metrics:        m,
		connection:     c,
		registered:     s.Now(),
	}
}

// String returns the decorated handler as text, because client-go formats handlers in errors.
func (h *handler) String() string { return fmt.Sprint(h.inner) }

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	d := h.begin(stream.EventAdded, obj, isInInitialList)
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
		h.countUnchanged(oldObj, newObj, version)
	} else {
		d = h.begin(stream.EventModified, newObj, false)
	}
	defer h.finish(&d)
	h.inner.OnUpdate(oldObj, newObj)
	d.returned = true
}

// countUnchanged counts an update of an object that has not changed. A resync passes the object in the store as both the
// old and the new one (k8s.io/client-go/tools/cache, processDeltas), a relist passes a new copy. Copies without a version
// cannot be compared.
func (h *handler) countUnchanged(oldObj, newObj any, version string) {
	switch {
	case reflect.ValueOf(newObj).Kind() == reflect.Pointer && oldObj == newObj:
		h.lastResync.Store(time.Now().UnixNano())
		h.metrics.unchanged[unchangedResync].Inc()
	case version != "":
		h.metrics.unchanged[unchangedRelist].Inc()
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) {
	d := h.begin(stream.EventDeleted, obj, false)
	defer h.finish(&d)
	h.inner.OnDelete(obj)
	d.returned = true
}

// delivery is one call of a handler.
type delivery struct {
	// start is when the handler was called.
	start int64
	// event is set if the API server caused the call, received is when the event was received.
	event    bool
	received int64
	// version is the resourceVersion of the watch event that caused the call, 0 for other causes.
	version uint64
	// paired is set if the cursor is at the event.
	paired bool
	// returned is set once the handler has returned instead of panicking.
	returned bool

	endSpan func(panicked bool)
	traceID string
}

// begin determines what caused a call and when the cause was received.
func (h *handler) begin(event string, obj any, initial bool) delivery {
	d := delivery{start: h.shared.Now()}
	h.setReceived(&d, obj, initial)
	if h.shared.Tracer != nil && d.event {
		h.beginSpan(&d, event)
	}
	return d
}

// setReceived determines when the cause of a call was received. An object of a list counts from the end of the list, or
// from the registration of the handler if that was later. Without a cause, as for resourceVersions that are not numbers,
// the call is not an event: an unknown lag is not reported.
func (h *handler) setReceived(d *delivery, obj any, initial bool) {
	list := h.connection.LastList()
	_, missed := obj.(cache.DeletedFinalStateUnknown)
	fromList := initial || missed
	if version, ok := rv.Parse(rv.Of(obj)); ok && !fromList {
		found := h.cursor.Find(version)
		if found.Lost > 0 {
			h.metrics.lost[lostOverrun].Add(float64(found.Lost))
		}
		switch found.Match {
		case ring.Exact:
			d.received, d.version, d.event, d.paired = found.At, version, true, true
			return
		case ring.Overrun:
			d.received, d.version, d.event = found.At, version, true
			return
		case ring.None:
			fromList = list != nil && version <= list.Version
		}
	}
	if !fromList || list == nil {
		return
	}
	d.received, d.event = max(list.At, h.registered), true
	h.listReceived.Store(d.received)
}

// finish accounts for a call. It is deferred, and recovers panics of isolated handlers only: any other panic is counted
// and continues.
func (h *handler) finish(d *delivery) {
	now := h.shared.Now()
	if d.paired {
		h.cursor.Done()
	} else if d.event {
		h.listReceived.Store(0)
	}
	if d.version != 0 {
		h.handled.Store(d.version)
	}
	if d.endSpan != nil {
		h.endSpan(d)
	}
	if !d.returned {
		h.handlerMetrics.panics.Inc()
		if h.isolated {
			h.logPanic(recover())
		}
		return
	}
	observe(h.handlerMetrics.duration, core.Seconds(now-d.start), d.traceID)
	if d.event {
		observe(h.metrics.eventLag, core.Seconds(now-d.received), d.traceID)
	}
}

func (h *handler) logPanic(value any) {
	if value == nil {
		return // the goroutine exits
	}
	h.shared.Logger.Error("isolated handler panicked, skipping the event", "informer_type", h.id.Type(),
		"watch_namespace", h.id.WatchNamespace(), "handler", h.handlerMetrics.name, "panic", value, "stack", string(debug.Stack()))
}

// beginSpan calls the Tracer. After a panic of the Tracer, the event is delivered without a span.
func (h *handler) beginSpan(d *delivery, event string) {
	s, l := h.shared, h.metrics.labels
	returned := false
	defer func() {
		if !returned {
			d.endSpan, d.traceID = nil, ""
			s.logTracerPanic(recover())
		}
	}()
	d.endSpan, d.traceID = s.Tracer.Deliver(l.informerType, l.watchNamespace, h.handlerMetrics.name, event, s.Moment(d.received))
	returned = true
}

// endSpan tells the Tracer that the handler has returned or panicked.
func (h *handler) endSpan(d *delivery) {
	returned := false
	defer func() {
		if !returned {
			h.shared.logTracerPanic(recover())
		}
	}()
	d.endSpan(!d.returned)
	returned = true
}

// backlog returns the number of events that the handler has not finished, and when the oldest was received.
func (h *handler) backlog() (pending uint64, oldest int64) {
	pending, oldest = h.cursor.Backlog()
	if received := h.listReceived.Load(); received != 0 {
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

// maxTraceID is more than the 32 digits of an OpenTelemetry trace ID, and less than the length that client_golang
// rejects with a panic.
const maxTraceID = 64

func observe(o prometheus.Observer, value float64, traceID string) {
	if traceID == "" || len(traceID) > maxTraceID || !utf8.ValidString(traceID) {
		o.Observe(value)
		return
	}
	o.(prometheus.ExemplarObserver).ObserveWithExemplar(value, prometheus.Labels{"trace_id": traceID})
}
