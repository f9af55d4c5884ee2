package objects

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// clusterScope is the value of the label namespace for cluster-scoped objects.
const clusterScope = "*"

// Kind is the event handler of one informer. It remembers terminating objects and objects whose observed generation lags.
type Kind struct {
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
}

var _ cache.ResourceEventHandler = (*Kind)(nil)

// Kind returns the event handler of an informer, for a value of the label informer_type. Each informer needs its own, even if
// others have the same value. Close must be called after the informer has stopped.
func (c *Collector) Kind(informerType string) *Kind {
	k := &Kind{collector: c, informerType: informerType, objects: map[types.NamespacedName]*remembered{}}
	c.terminating.hold(k.terminatingLabels(clusterScope, catalog.FinalizerNone))
	return k
}

// SetGenerations sets whether the informer receives objects with status.observedGeneration. If so, the number of objects that
// lag is reported even if it is 0.
func (k *Kind) SetGenerations(received bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.generations == received {
		return
	}
	k.generations = received
	if received {
		k.collector.generations.hold(k.generationLabels(clusterScope))
	} else {
		k.collector.generations.release(k.generationLabels(clusterScope))
	}
}

func (k *Kind) terminatingLabels(namespace, finalizer string) labels {
	return labels{k.informerType, namespace, finalizer}
}

func (k *Kind) generationLabels(namespace string) labels {
	return labels{informerType: k.informerType, namespace: namespace}
}

// Close removes all objects, and the series unless another handler has the same informer type. Later events have no effect.
func (k *Kind) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	k.closed = true
	for key := range k.objects {
		k.forget(key)
	}
	k.collector.terminating.release(k.terminatingLabels(clusterScope, catalog.FinalizerNone))
	if k.generations {
		k.collector.generations.release(k.generationLabels(clusterScope))
	}
}

// OnAdd implements cache.ResourceEventHandler.
func (k *Kind) OnAdd(obj any, _ bool) { k.see(obj) }

// OnUpdate implements cache.ResourceEventHandler.
func (k *Kind) OnUpdate(_, obj any) { k.see(obj) }

// OnDelete implements cache.ResourceEventHandler.
func (k *Kind) OnDelete(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(key)
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

// see updates what is remembered of an object.
func (k *Kind) see(obj any) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	deleted := o.GetDeletionTimestamp()
	lags := deleted == nil && generationLags(obj) // the API server increments the generation of an object that it marks as deleted

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	known := k.objects[key]
	if known != nil && (known.uid != o.GetUID() || deleted == nil && !lags) {
		k.forget(key) // a new object of the same name, or one that is neither terminating nor lags
		known = nil
	}
	if deleted == nil && !lags {
		return
	}
	if known == nil {
		known = &remembered{uid: o.GetUID()}
		k.objects[key] = known
	}
	namespace := k.namespaceOf(key)
	k.setTerminating(known, namespace, deleted, o.GetFinalizers())
	k.setLag(known, namespace, lags)
}

// namespaceOf returns the value of the label namespace. For a Namespace that is its own name.
func (k *Kind) namespaceOf(key types.NamespacedName) string {
	switch {
	case key.Namespace != "":
		return key.Namespace
	case k.informerType == "namespaces":
		return key.Name
	}
	return clusterScope
}

// generationLags reports whether an object's observed generation lags. It is false for metadata.
func generationLags(obj any) bool {
	o, ok := obj.(Observed)
	return ok && o.GetObservedGeneration() < o.GetGeneration()
}

// setTerminating counts a terminating object once for each of its finalizers.
func (k *Kind) setTerminating(r *remembered, namespace string, deleted *metav1.Time, finalizers []string) {
	if deleted != nil && len(r.terminating) > 0 && r.deleted.Equal(deleted.Time) && slices.Equal(r.finalizers, finalizers) {
		return
	}
	for _, e := range r.terminating {
		k.collector.terminating.remove(e)
	}
	r.terminating = nil
	if deleted == nil {
		return
	}
	r.deleted, r.finalizers = deleted.Time, slices.Clone(finalizers)
	if len(finalizers) == 0 {
		finalizers = []string{catalog.FinalizerNone}
	}
	for _, f := range finalizers {
		r.terminating = append(r.terminating, k.collector.terminating.add(k.terminatingLabels(namespace, f), r.deleted))
	}
}

// setLag counts an object that lags, from now on, or ends that.
func (k *Kind) setLag(r *remembered, namespace string, lags bool) {
	switch {
	case lags && r.lag == nil:
		r.lag = k.collector.generations.add(k.generationLabels(namespace), k.collector.clock.Now())
	case !lags && r.lag != nil:
		k.collector.generations.remove(r.lag)
		r.lag = nil
	}
}

func (k *Kind) forget(key types.NamespacedName) {
	r := k.objects[key]
	if r == nil {
		return
	}
	delete(k.objects, key)
	for _, e := range r.terminating {
		k.collector.terminating.remove(e)
	}
	if r.lag != nil {
		k.collector.generations.remove(r.lag)
	}
}
