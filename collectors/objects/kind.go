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

// everywhere is the namespace of objects that live in none.
const everywhere = "*"

// Kind follows the objects of one informer: it is that informer's event handler. It remembers those that are held in
// deletion or lag behind their spec, and nothing of all others.
type Kind struct {
	collector    *Collector
	informerType string

	mu          sync.Mutex
	objects     map[types.NamespacedName]*troubled
	generations bool
	closed      bool
}

// troubled is an object that something is the matter with.
type troubled struct {
	uid types.UID
	// deleted and finalizers are what held has been made of.
	deleted    time.Time
	finalizers []string
	held       []*entry
	behind     *entry // nil unless it lags behind
}

var _ cache.ResourceEventHandler = (*Kind)(nil)

// Kind returns the event handler of an informer, by the value of the label informer_type. Several informers of one
// resource, such as one for each namespace, have a handler each. Close must be called when the informer has ended.
func (c *Collector) Kind(informerType string) *Kind {
	k := &Kind{collector: c, informerType: informerType, objects: map[types.NamespacedName]*troubled{}}
	c.terminating.hold(k.terminatingLabels(everywhere, catalog.FinalizerNone))
	return k
}

// SetGenerations tells whether the informer is sent whole objects with status.observedGeneration. If so, that none lags
// behind is reported, too.
func (k *Kind) SetGenerations(sent bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.generations == sent {
		return
	}
	k.generations = sent
	if sent {
		k.collector.behind.hold(k.behindLabels(everywhere))
	} else {
		k.collector.behind.release(k.behindLabels(everywhere))
	}
}

func (k *Kind) terminatingLabels(namespace, finalizer string) labels {
	return labels{k.informerType, namespace, finalizer}
}

func (k *Kind) behindLabels(namespace string) labels {
	return labels{informerType: k.informerType, namespace: namespace}
}

// Close forgets all objects. The resource has no series any more, unless there is another Kind of it, and events that are
// still on their way change nothing.
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
	k.collector.terminating.release(k.terminatingLabels(everywhere, catalog.FinalizerNone))
	if k.generations {
		k.collector.behind.release(k.behindLabels(everywhere))
	}
}

// OnAdd implements cache.ResourceEventHandler.
func (k *Kind) OnAdd(obj any, _ bool) { k.see(obj) }

// OnUpdate implements cache.ResourceEventHandler. What there was before is known.
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

// keyOf returns the name of what was deleted, of which there may be no more than the key if the event was missed.
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

// see compares the state of an object with what is remembered of it.
func (k *Kind) see(obj any) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	deleted := o.GetDeletionTimestamp()
	behind := deleted == nil && lagsBehind(obj) // the API server raises the generation of what it marks as deleted

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	known := k.objects[key]
	if known != nil && (known.uid != o.GetUID() || deleted == nil && !behind) {
		k.forget(key) // another one of the same name, or nothing is the matter any more
		known = nil
	}
	if deleted == nil && !behind {
		return
	}
	if known == nil {
		known = &troubled{uid: o.GetUID()}
		k.objects[key] = known
	}
	namespace := k.namespaceOf(key)
	k.setTerminating(known, namespace, deleted, o.GetFinalizers())
	k.setBehind(known, namespace, behind)
}

// namespaceOf returns the value of the label namespace: a Namespace is reported under its own name.
func (k *Kind) namespaceOf(key types.NamespacedName) string {
	switch {
	case key.Namespace != "":
		return key.Namespace
	case k.informerType == "namespaces":
		return key.Name
	}
	return everywhere
}

// lagsBehind is never true of an object of which nothing but the metadata was sent.
func lagsBehind(obj any) bool {
	o, ok := obj.(Observed)
	return ok && o.GetObservedGeneration() < o.GetGeneration()
}

// setTerminating counts an object once for each finalizer that it waits for.
func (k *Kind) setTerminating(t *troubled, namespace string, deleted *metav1.Time, finalizers []string) {
	if deleted != nil && len(t.held) > 0 && t.deleted.Equal(deleted.Time) && slices.Equal(t.finalizers, finalizers) {
		return
	}
	for _, e := range t.held {
		k.collector.terminating.remove(e)
	}
	t.held = nil
	if deleted == nil {
		return
	}
	t.deleted, t.finalizers = deleted.Time, slices.Clone(finalizers)
	if len(finalizers) == 0 {
		finalizers = []string{catalog.FinalizerNone}
	}
	for _, f := range finalizers {
		t.held = append(t.held, k.collector.terminating.add(k.terminatingLabels(namespace, f), t.deleted))
	}
}

// setBehind begins the time of an object that lags behind, or ends it.
func (k *Kind) setBehind(t *troubled, namespace string, behind bool) {
	switch {
	case behind && t.behind == nil:
		t.behind = k.collector.behind.add(k.behindLabels(namespace), k.collector.clock.Now())
	case !behind && t.behind != nil:
		k.collector.behind.remove(t.behind)
		t.behind = nil
	}
}

func (k *Kind) forget(key types.NamespacedName) {
	t := k.objects[key]
	if t == nil {
		return
	}
	delete(k.objects, key)
	for _, e := range t.held {
		k.collector.terminating.remove(e)
	}
	if t.behind != nil {
		k.collector.behind.remove(t.behind)
	}
}
