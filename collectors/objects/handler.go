package objects

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// clusterScope is the value of the label namespace for cluster-scoped objects.
const clusterScope = "*"

// maxFinalizers limits the finalizers of an object that are reported by name. Kubernetes objects have one to three.
const maxFinalizers = 20

// Handler is the event handler of one informer. It remembers terminating objects and objects with an observed generation lag.
type Handler struct {
	collector    *Collector
	informerType string

	mu          sync.Mutex
	objects     map[types.NamespacedName]*remembered
	generations bool
	closed      bool
}

// remembered is an object that is terminating or lags.
type remembered struct {
	uid types.UID
	// terminating has an entry for each finalizer, or one if there are none.
	terminating []*entry
	deleted     time.Time
	finalizers  []string
	lag         *entry // nil unless the observed generation lags
	// since is when the event of the first unobserved generation was received, zero if the handler did not receive it.
	since time.Time
}

var _ cache.ResourceEventHandler = (*Handler)(nil)

// NewHandler returns the event handler of an informer, for a value of the label informer_type. Each informer needs its own, even if
// others have the same value. Close must be called after the informer has stopped.
func (c *Collector) NewHandler(informerType string) *Handler {
	h := &Handler{collector: c, informerType: informerType, objects: map[types.NamespacedName]*remembered{}}
	c.terminating.hold(h.terminatingLabels(clusterScope, finalizerNone))
	return h
}

// SetGenerations sets whether the informer receives objects with status.observedGeneration. If so, the observed generation lag
// is reported even if it is 0.
func (h *Handler) SetGenerations(received bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.generations == received {
		return
	}
	h.generations = received
	if received {
		h.collector.generations.hold(h.generationLabels(clusterScope))
		h.collector.generationTimes.hold(h.informerType)
	} else {
		h.releaseGenerations()
	}
}

func (h *Handler) releaseGenerations() {
	h.collector.generations.release(h.generationLabels(clusterScope))
	h.collector.generationTimes.release(h.informerType)
}

func (h *Handler) terminatingLabels(namespace, finalizer string) labels {
	return labels{h.informerType, namespace, finalizer}
}

func (h *Handler) generationLabels(namespace string) labels {
	return labels{informerType: h.informerType, namespace: namespace}
}

// Close removes all objects, and the series unless another handler has the same informer type. Later events have no effect.
func (h *Handler) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for key := range h.objects {
		h.forget(key)
	}
	h.collector.terminating.release(h.terminatingLabels(clusterScope, finalizerNone))
	if h.generations {
		h.releaseGenerations()
	}
}

// OnAdd implements cache.ResourceEventHandler.
func (h *Handler) OnAdd(obj any, isInInitialList bool) { h.see(obj, !isInInitialList, isInInitialList) }

// OnUpdate implements cache.ResourceEventHandler.
func (h *Handler) OnUpdate(before, obj any) {
	_, observed := before.(Observed) // false if the informer received only metadata before
	h.see(obj, observed, false)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *Handler) OnDelete(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(key)
}

// keyOf returns the name of a deleted object. If the deletion was missed, there is only the key.
func keyOf(obj any) (types.NamespacedName, bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		namespace, name, err := cache.SplitMetaNamespaceKey(unknown.Key)
		return types.NamespacedName{Namespace: namespace, Name: name}, err == nil
	}
	o, ok := obj.(metav1.Object)
	if !ok {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, true
}

// see updates the state kept for an object. begins is set if this event starts any lag that was not known before, and initial if the
// object is in the initial list.
func (h *Handler) see(obj any, begins, initial bool) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	deleted := o.GetDeletionTimestamp()
	lags := deleted == nil && generationLags(obj) // the API server increments the generation of an object that it marks as deleted

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	known := h.objects[key]
	if known != nil && known.uid == o.GetUID() && deleted == nil && generationObserved(obj) {
		h.observe(known)
	}
	if known != nil && (known.uid != o.GetUID() || deleted == nil && !lags) {
		h.forget(key) // a new object of the same name, or one that is neither terminating nor lags
		known = nil
	}
	if deleted == nil && !lags {
		return
	}
	if known == nil {
		known = &remembered{uid: o.GetUID()}
		h.objects[key] = known
	}
	lagged := known.lag != nil
	namespace := h.namespaceOf(key)
	h.setTerminating(known, namespace, deleted, o.GetFinalizers())
	h.setLag(known, namespace, lags)
	if initial {
		for _, e := range known.terminating {
			h.collector.terminating.exempt(e)
		}
		if known.lag != nil {
			h.collector.generations.exempt(known.lag)
		}
	}
	if lags && begins && !lagged {
		known.since = h.collector.clock.Now()
	}
}

// observe records how long the observed generation of an object lagged, unless it is unknown when that began.
func (h *Handler) observe(r *remembered) {
	if r.lag != nil && !r.since.IsZero() && h.generations {
		h.collector.generationTimes.observe(h.informerType, r.since, h.collector.clock.Now())
	}
}

// namespaceOf returns the value of the label namespace. For a Namespace that is its own name.
func (h *Handler) namespaceOf(key types.NamespacedName) string {
	switch {
	case key.Namespace != "":
		return namespaceLabel(key.Namespace)
	case h.informerType == "namespaces":
		return namespaceLabel(key.Name)
	}
	return clusterScope
}

// namespaceLabel returns the label value of a namespace: its name, unless that is the value for objects beyond the limit. No
// namespace has the name that it returns then.
func namespaceLabel(name string) string {
	if name == series.Other {
		return series.Other + "_"
	}
	return name
}

// generationLags reports whether an object's observed generation lags. It is false for metadata.
func generationLags(obj any) bool {
	o, ok := obj.(Observed)
	return ok && o.GetObservedGeneration() < o.GetGeneration()
}

// generationObserved reports whether an object has an observed generation that does not lag.
func generationObserved(obj any) bool {
	o, ok := obj.(Observed)
	return ok && o.GetObservedGeneration() >= o.GetGeneration()
}

// setTerminating counts a terminating object once for each of its finalizers.
func (h *Handler) setTerminating(r *remembered, namespace string, deleted *metav1.Time, finalizers []string) {
	if deleted != nil {
		finalizers = cutFinalizers(finalizers)
	}
	if deleted != nil && len(r.terminating) > 0 && r.deleted.Equal(deleted.Time) && slices.Equal(r.finalizers, finalizers) {
		return
	}
	for _, e := range r.terminating {
		h.collector.terminating.remove(e)
	}
	r.terminating = nil
	if deleted == nil {
		return
	}
	r.deleted, r.finalizers = deleted.Time, slices.Clone(finalizers)
	if len(finalizers) == 0 {
		finalizers = []string{finalizerNone}
	}
	if len(finalizers) > maxFinalizers {
		finalizers = append(slices.Clone(finalizers[:maxFinalizers]), series.Other)
	}
	for _, f := range finalizers {
		r.terminating = append(r.terminating, h.collector.terminating.add(h.terminatingLabels(namespace, f), r.deleted))
	}
}

// setLag starts or stops counting an object that lags.
func (h *Handler) setLag(r *remembered, namespace string, lags bool) {
	switch {
	case lags && r.lag == nil:
		r.lag = h.collector.generations.add(h.generationLabels(namespace), h.collector.clock.Now())
	case !lags && r.lag != nil:
		h.collector.generations.remove(r.lag)
		r.lag, r.since = nil, time.Time{}
	}
}

func (h *Handler) forget(key types.NamespacedName) {
	r := h.objects[key]
	if r == nil {
		return
	}
	delete(h.objects, key)
	for _, e := range r.terminating {
		h.collector.terminating.remove(e)
	}
	if r.lag != nil {
		h.collector.generations.remove(r.lag)
	}
}
