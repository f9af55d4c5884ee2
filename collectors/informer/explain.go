package informer

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

var _ inspection.Explainer = &registry{}

// Explain implements inspection.Explainer. It asks the informers that watch the namespace of the object.
func (r *registry) Explain(e *inspection.Explanation) {
	var found []*informer
	for _, inf := range r.informers.Owners() {
		if inf.id.isNamed(e.Resource) && (inf.id.Namespace == "" || inf.id.Namespace == e.Namespace) {
			found = append(found, inf)
		}
	}
	if len(found) == 0 {
		e.Add(inspection.NoInformer, "no informer watches %s in this namespace", e.Resource)
	}
	readStores(found)
	for _, inf := range found {
		e.Caches = append(e.Caches, inf.explain(e))
	}
}

// isNamed reports whether the resource has a name, such as deployments.apps or deployments.
func (id ID) isNamed(resource string) bool { return id.Type() == resource || id.Resource == resource }

// explain returns the state of the informer and of an object in its cache, and adds what may be wrong.
func (inf *informer) explain(e *inspection.Explanation) inspection.Cache {
	s, now := inf.status(), inf.shared.Now()
	c := inspection.Cache{
		WatchNamespace: inf.id.WatchNamespace(), Synced: s.Synced, WatchConnected: s.Connected, SyncLagSeconds: s.SyncLag.Seconds(),
		LastEvent: utc(s.LastEvent),
	}
	down, behind := inf.connection.DownSince(), s.storeLag
	if stale := inf.checks.StaleSince(now, s.Stored); stale != 0 {
		behind = max(behind, time.Duration(now-stale))
	}
	switch {
	case !s.Synced:
		e.Add(inspection.NotSynced, "the informer has not synced; lists and watches failed in a row: %d", s.Failures)
	case down != 0:
		e.Add(inspection.WatchDown, "the informer has had no watch for %s", inspection.Ago(time.Duration(now-down)))
	case behind > inf.shared.Objectives.SyncLag:
		e.Add(inspection.CacheBehind, "the cache is behind the API server by %s", inspection.Ago(behind))
	}
	inf.explainObject(e, &c)
	inf.explainWrite(e, &c, now)
	for _, h := range inf.currentHandlers() {
		state := inspection.Handled{Handler: h.handlerMetrics.name}
		n, since := h.backlog()
		if state.Pending = n; n > 0 {
			state.BehindSeconds = time.Duration(now - since).Seconds()
		}
		if version, ok := rv.Parse(c.ResourceVersion); ok && c.Received != nil {
			handled := n == 0 || h.handled.Load() >= version
			state.Handled = &handled
			if !handled {
				e.Add(inspection.NotHandled, "handler %s has not finished the object's last event; pending events: %d, the oldest for %s",
					state.Handler, n, inspection.Ago(time.Duration(now-since)))
			}
		}
		if state.Handled == nil && n > 0 && time.Duration(now-since) > inf.shared.Objectives.EventLag {
			e.Add(inspection.NotHandled, "handler %s is behind: pending events: %d, the oldest for %s", state.Handler, n, inspection.Ago(time.Duration(now-since)))
		}
		c.Handlers = append(c.Handlers, state)
	}
	return c
}

// explainObject adds the state of an object in the cache.
func (inf *informer) explainObject(e *inspection.Explanation, c *inspection.Cache) {
	if inf.store == nil || inf.stored.reader.Load() != nil {
		return // not observed, or its writer hangs
	}
	cached, ok, err := inf.store.GetByKey(e.Key())
	if err != nil || !ok {
		e.Add(inspection.NotCached, "the cache does not have the object: it does not exist, a selector excludes it, or its event has not arrived")
		return
	}
	c.Cached = true
	object, err := meta.Accessor(cached)
	if err != nil {
		return // after a Transform
	}
	c.ResourceVersion, c.Generation, c.Finalizers = object.GetResourceVersion(), object.GetGeneration(), object.GetFinalizers()
	if version, ok := rv.Parse(c.ResourceVersion); ok {
		if at, ok := inf.connection.Ring.At(version); ok {
			c.Received = utc(inf.shared.Wall(at))
		}
	}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		c.DeletionTimestamp = utc(deleted.Time)
		held := "no finalizer blocks it"
		if len(c.Finalizers) > 0 {
			held = "blocked by finalizer " + strings.Join(c.Finalizers, ", ")
		}
		e.Add(inspection.Terminating, "the object has been terminating for %s: %s", inspection.Ago(time.Since(deleted.Time)), held)
	}
	if observed, ok := observedGeneration(cached); ok {
		c.ObservedGeneration = &observed
		if observed < c.Generation && c.DeletionTimestamp == nil {
			e.Add(inspection.Unobserved, "status.observedGeneration is %d, metadata.generation %d: the object's controller has not handled its last change", observed, c.Generation)
		}
	}
}

// observedGeneration returns status.observedGeneration of a typed or unstructured object.
func observedGeneration(object any) (int64, bool) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		observed, found, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		return observed, found && err == nil
	}
	v := reflect.Indirect(reflect.ValueOf(object))
	for _, name := range []string{"Status", "ObservedGeneration"} {
		if v.Kind() != reflect.Struct {
			return 0, false
		}
		field, ok := v.Type().FieldByName(name)
		if !ok {
			return 0, false
		}
		var err error
		if v, err = v.FieldByIndexErr(field.Index); err != nil { // in an embedded nil pointer
			return 0, false
		}
	}
	if v.Kind() != reflect.Int64 {
		return 0, false
	}
	return v.Int(), v.Int() != 0 // 0 if the field is missing
}

// explainWrite adds the program's last write of the object, and whether the informer has received it.
func (inf *informer) explainWrite(e *inspection.Explanation, c *inspection.Cache, now int64) {
	if inf.claim.echo == nil {
		return // its connection is not observed
	}
	resource := schema.GroupResource{Group: inf.id.Group, Resource: inf.id.Resource}
	last, known := echo.Of(inf.shared.Observer).LastWrite(resource, e.Namespace, e.Object)
	if !known {
		return
	}
	w := &inspection.Write{ResourceVersion: strconv.FormatUint(last.Version, 10), Time: inf.shared.Wall(last.Answered).UTC()}
	c.LastWrite = w
	stored, ok := rv.Parse(c.ResourceVersion)
	w.Stored = ok && stored >= last.Version
	if at, ok := inf.connection.Ring.At(last.Version); ok {
		seconds := time.Duration(max(0, at-last.Answered)).Seconds()
		w.EchoSeconds = &seconds
		return
	}
	if age := time.Duration(now - last.Answered); !w.Stored && inf.connection.Echo.Version.Load() < last.Version && age > inf.shared.Objectives.SyncLag {
		e.Add(inspection.WriteUnseen, "the informer has not received the program's own write of %s ago", inspection.Ago(age))
	}
}

func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
