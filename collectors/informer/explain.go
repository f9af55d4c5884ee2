package informer

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

var _ inspection.Explainer = &registry{}

// Explain implements inspection.Explainer. It asks the informers that watch the namespace of the object.
func (r *registry) Explain(e *inspection.Explanation) {
	var found []*informer
	for _, inf := range r.informers.Owners() {
		if inf.id.Type() == e.Resource && (inf.id.Namespace == "" || inf.id.Namespace == e.Namespace) {
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
}

func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
