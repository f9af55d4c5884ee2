package objects

import (
	"unique"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Observed is an object with status.observedGeneration.
type Observed interface {
	metav1.Object
	// GetObservedGeneration returns status.observedGeneration, or 0 if it is not set.
	GetObservedGeneration() int64
}

// keptMeta is the part of an object's metadata that informers keep, in a third of the memory of a PartialObjectMetadata. It is
// never changed.
type keptMeta struct {
	// ObjectMeta implements the methods of metav1.Object for the fields that are not kept. All objects share an empty one.
	*metav1.ObjectMeta

	namespace, name, resourceVersion string
	uid                              types.UID
	generation                       int64
	deletion                         *deletion // nil unless the object is being deleted
}

// deletion holds the deletion timestamp and the finalizers of a terminating object.
type deletion struct {
	since      metav1.Time
	finalizers []string
}

var nothing = &metav1.ObjectMeta{}

// observedMeta is the keptMeta of an object with status.observedGeneration.
type observedMeta struct {
	keptMeta
	observed int64
}

var (
	_ metav1.Object = &keptMeta{}
	_ Observed      = &observedMeta{}
)

// Transform is a cache.TransformFunc that keeps only the fields that the handlers of this package read: name, namespace,
// UID, resource version, generation, status.observedGeneration and, for terminating objects, the deletion timestamp and the
// finalizers. It converts unstructured objects and metadata, and reduces the metadata of a Lease. It is idempotent.
func Transform(obj any) (any, error) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return &observedMeta{newMeta(o), observedGeneration(o)}, nil
	case *metav1.PartialObjectMetadata:
		kept := newMeta(o)
		return &kept, nil
	case *coordinationv1.Lease:
		o.ObjectMeta = leaseMeta(o)
	}
	return obj, nil
}

func observedGeneration(u *unstructured.Unstructured) int64 {
	observed, _, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if err != nil {
		return u.GetGeneration() // a field of another type with that name
	}
	return observed
}

func newMeta(o metav1.Object) keptMeta {
	kept := keptMeta{
		ObjectMeta:      nothing,
		namespace:       unique.Make(o.GetNamespace()).Value(), // one string for all objects of a namespace
		name:            o.GetName(),
		resourceVersion: o.GetResourceVersion(),
		uid:             o.GetUID(),
		generation:      o.GetGeneration(),
	}
	if since := o.GetDeletionTimestamp(); since != nil {
		kept.deletion = &deletion{since: *since, finalizers: o.GetFinalizers()}
	}
	return kept
}

// GetObservedGeneration implements Observed.
func (o *observedMeta) GetObservedGeneration() int64 { return o.observed }

// GetNamespace implements metav1.Object.
func (o *keptMeta) GetNamespace() string { return o.namespace }

// GetName implements metav1.Object.
func (o *keptMeta) GetName() string { return o.name }

// GetResourceVersion implements metav1.Object.
func (o *keptMeta) GetResourceVersion() string { return o.resourceVersion }

// GetUID implements metav1.Object.
func (o *keptMeta) GetUID() types.UID { return o.uid }

// GetGeneration implements metav1.Object.
func (o *keptMeta) GetGeneration() int64 { return o.generation }

// GetDeletionTimestamp implements metav1.Object.
func (o *keptMeta) GetDeletionTimestamp() *metav1.Time {
	if o.deletion == nil {
		return nil
	}
	return &o.deletion.since
}

// GetFinalizers implements metav1.Object. Finalizers are kept only for terminating objects.
func (o *keptMeta) GetFinalizers() []string {
	if o.deletion == nil {
		return nil
	}
	return o.deletion.finalizers
}

// leaseMeta is the part of a Lease's metadata that is kept, with the label that identifies the Leases of API servers.
func leaseMeta(l *coordinationv1.Lease) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name: l.Name, Namespace: unique.Make(l.Namespace).Value(), UID: l.UID, ResourceVersion: l.ResourceVersion, Generation: l.Generation,
		CreationTimestamp: l.CreationTimestamp, DeletionTimestamp: l.DeletionTimestamp, Finalizers: l.Finalizers,
	}
	if identity, ok := l.Labels[apiServerLabel]; ok {
		m.Labels = map[string]string{apiServerLabel: identity}
	}
	return m
}
