package collectors

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// handler decorates an event handler. client-go calls it on one goroutine, in the order in which the store changed.
type handler struct {
	inner    cache.ResourceEventHandler
	informer *informer
	series   *handlerSeries
	cursor   *ring.Cursor
	// since is when the handler was registered: nothing can have kept it waiting for longer.
	since int64
	// listed is when the object of a list that is being handled was received, 0 if there is none. Events of a watch are
	// in the ring instead.
	listed atomic.Int64
	// finished is the resourceVersion of the last event that the handler has finished, 0 before the first.
	finished atomic.Uint64
	// resynced is when the handler was given an object by a resync last, in nanoseconds since 1970, 0 if it was not.
	resynced atomic.Int64
	// period is how often it gets resyncs, 0 for never, negative if it is not known.
	period time.Duration
}

var _ cache.ResourceEventHandler = &handler{}

func (inf *informer) decorateHandler(name string, inner cache.ResourceEventHandler) *handler {
	return &handler{
		inner:    inner,
		informer: inf,
		series:   inf.group.acquireHandler(name),
		cursor:   inf.ring.NewCursor(),
		since:    inf.obs.now(),
	}
}

// String writes a handler as what it decorates: client-go puts handlers into errors.
func (h *handler) String() string { return fmt.Sprint(h.inner) }

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	d := h.begin(catalog.EventAdded, obj, isInInitialList)
	defer h.finish(&d)
	h.inner.OnAdd(obj, isInInitialList)
	d.returned = true
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(oldObj, newObj any) {
	var d delivery
	if version := resourceVersion(newObj); version == resourceVersion(oldObj) {
		// The API server has sent no event, or a Transform has made it unrecognizable.
		d.start = h.informer.obs.now()
		h.unchanged(oldObj, newObj, version)
	} else {
		d = h.begin(catalog.EventModified, newObj, false)
	}
	defer h.finish(&d)
	h.inner.OnUpdate(oldObj, newObj)
	d.returned = true
}

// unchanged counts an update of an object that has not changed. A resync hands on the object in the store as both the
// old and the new one (k8s.io/client-go/tools/cache, processDeltas), a relist brings a new copy. Of copies without a
// version nobody knows.
func (h *handler) unchanged(oldObj, newObj any, version string) {
	switch {
	case reflect.ValueOf(newObj).Kind() == reflect.Pointer && oldObj == newObj:
		h.resynced.Store(time.Now().UnixNano())
		h.informer.group.unchanged[catalog.UnchangedResync].Inc()
	case version != "":
		h.informer.group.unchanged[catalog.UnchangedRelist].Inc()
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) {
	d := h.begin(catalog.EventDeleted, obj, false)
	defer h.finish(&d)
	h.inner.OnDelete(obj)
	d.returned = true
}

// delivery is one call of a handler.
type delivery struct {
	// start is when the handler was called.
	start int64
	// received is when the event was received.
	received int64
	// event tells that the call was caused by the API server, and that received is set.
	event bool
	// version is the resourceVersion of the watch event that caused the call, 0 if it was another cause.
	version uint64
	// paired tells that the cursor stands at the event.
	paired bool
	// returned tells that the handler has returned, not panicked.
	returned bool

	endSpan func(panicked bool)
	traceID string
}

// begin finds out what caused a call and since when the cause was known.
func (h *handler) begin(event string, obj any, initial bool) delivery {
	d := delivery{start: h.informer.obs.now()}
	h.receipt(&d, obj, initial)
	if t := h.informer.obs.tracer; t != nil && d.event {
		g := h.informer.group
		d.endSpan, d.traceID = t.Deliver(g.informerType, g.namespace, h.series.name, event, h.informer.obs.moment(d.received))
	}
	return d
}

// receipt sets when the cause of a call was received. An object of a list counts from the end of the list, or from the
// registration of the handler if that came later. If no cause can be found, as for resourceVersions that are no
// numbers, the call is no event: a lag that is not known is not reported.
func (h *handler) receipt(d *delivery, obj any, initial bool) {
	state := h.informer.source.epoch.Load()
	_, missed := obj.(cache.DeletedFinalStateUnknown)
	listed := initial || missed
	if version, ok := rv.Parse(resourceVersion(obj)); ok && !listed {
		found := h.cursor.Find(version)
		if found.Lost > 0 {
			h.informer.group.lost[catalog.LostOverrun].Add(float64(found.Lost))
		}
		switch found.Match {
		case ring.Exact:
			d.received, d.version, d.event, d.paired = found.At, version, true, true
			return
		case ring.Overrun:
			d.received, d.version, d.event = found.At, version, true
			return
		case ring.None:
			listed = state != nil && version <= state.rv
		}
	}
	if !listed || state == nil {
		return
	}
	d.received, d.event = max(state.at, h.since), true
	h.listed.Store(d.received)
}

// finish accounts for a call. It runs deferred and does not recover: a panic is counted and goes on.
func (h *handler) finish(d *delivery) {
	now := h.informer.obs.now()
	if d.paired {
		h.cursor.Done()
	} else if d.event {
		h.listed.Store(0)
	}
	if d.version != 0 {
		h.finished.Store(d.version)
	}
	if d.endSpan != nil {
		d.endSpan(!d.returned)
	}
	if !d.returned {
		h.series.panics.Inc()
		return
	}
	observe(h.series.duration, seconds(now-d.start), d.traceID)
	if d.event {
		observe(h.informer.group.eventLag, seconds(now-d.received), d.traceID)
	}
}

// maxTraceID is more than the 32 digits of an OpenTelemetry trace id, and less than what client_golang panics at.
const maxTraceID = 64

func observe(o prometheus.Observer, value float64, traceID string) {
	if traceID == "" || len(traceID) > maxTraceID || !utf8.ValidString(traceID) {
		o.Observe(value)
		return
	}
	o.(prometheus.ExemplarObserver).ObserveWithExemplar(value, prometheus.Labels{"trace_id": traceID})
}

// resourceVersion returns the resourceVersion of an object, or the empty string if it has none.
func resourceVersion(obj any) string {
	if object, err := meta.Accessor(obj); err == nil {
		return object.GetResourceVersion()
	}
	return ""
}
