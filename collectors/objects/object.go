package objects

import (
	"unique"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Observed is an object with status.observedGeneration.
type Observed interface {
	metav1.Object
	// GetObservedGeneration returns status.observedGeneration, or 0 if it is not set.
	GetObservedGeneration() int64
}

// Object is the part of an object that informers keep: some of its metadata, and status.observedGeneration.
type Object struct {
	metav1.PartialObjectMetadata
	// ObservedGeneration is status.observedGeneration, or 0 if it is not set.
	ObservedGeneration int64
}

var _ Observed = &Object{}

// GetObservedGeneration implements Observed.
func (o *Object) GetObservedGeneration() int64 { return o.ObservedGeneration }

// DeepCopyObject implements runtime.Object.
func (o *Object) DeepCopyObject() runtime.Object {
	return &Object{*o.DeepCopy(), o.ObservedGeneration}
}

// Transform is a cache.TransformFunc for informers that receive whole objects. It converts an unstructured object to an
// *Object and reduces the metadata of a Lease. It is idempotent.
func Transform(obj any) (any, error) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return newObject(o), nil
	case *coordinationv1.Lease:
		o.ObjectMeta = leaseMeta(o)
	}
	return obj, nil
}

func newObject(u *unstructured.Unstructured) *Object {
	o := &Object{PartialObjectMetadata: metav1.PartialObjectMetadata{ObjectMeta: reduced(u)}}
	observed, found, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	switch {
	case err != nil:
		o.ObservedGeneration = o.Generation // a field of another type with that name
	case found:
		o.ObservedGeneration = observed
	}
	return o
}

// reduced returns the part of the metadata that handlers read.
func reduced(o metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              o.GetName(),
		Namespace:         unique.Make(o.GetNamespace()).Value(), // one string for all objects of a namespace
		UID:               o.GetUID(),
		ResourceVersion:   o.GetResourceVersion(),
		Generation:        o.GetGeneration(),
		CreationTimestamp: o.GetCreationTimestamp(),
		DeletionTimestamp: o.GetDeletionTimestamp(),
		Finalizers:        o.GetFinalizers(),
	}
}

// leaseMeta also keeps the label that identifies the Leases of API servers.
func leaseMeta(l *coordinationv1.Lease) metav1.ObjectMeta {
	m := reduced(l)
	if identity, ok := l.Labels[apiServerLabel]; ok {
		m.Labels = map[string]string{apiServerLabel: identity}
	}
	return m
}
