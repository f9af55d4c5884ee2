package informers

import (
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
)

// object is what the exporter keeps of an object of the cluster: a third of the memory of a PartialObjectMetadata with
// nothing else in it. It is only ever read.
type object struct {
	// ObjectMeta has the methods of metav1.Object that nobody here asks for. All objects share an empty one.
	*metav1.ObjectMeta

	namespace, name, resourceVersion string
	uid                              apitypes.UID
	generation                       int64
	// deletion is there once somebody has asked for it.
	deletion *deletion
}

var _ metav1.Object = &object{}

// deletion is what an object waits for that is to be deleted.
type deletion struct {
	since      metav1.Time
	finalizers []string
}

var nothing = &metav1.ObjectMeta{}

// observedObject is an object of which its controller says which generation it has dealt with.
type observedObject struct {
	object
	observed int64
}

// GetObservedGeneration implements objects.Observed.
func (o *observedObject) GetObservedGeneration() int64 { return o.observed }

var _ objects.Observed = &observedObject{}

// slim makes an object of what was sent of one, leaves Leases to the signals that they are for, and leaves alone what it has
// made before: a streaming list transforms twice. It runs for each event, under a lock of the informer.
func slim(obj any) (any, error) {
	obj, err := objects.Transform(obj)
	if err != nil {
		return nil, err
	}
	switch o := obj.(type) {
	case *metav1.PartialObjectMetadata:
		slimmed := newObject(&o.ObjectMeta)
		return &slimmed, nil
	case *objects.Object:
		return &observedObject{newObject(&o.ObjectMeta), o.ObservedGeneration}, nil
	}
	return obj, nil
}

func newObject(o *metav1.ObjectMeta) object {
	slimmed := object{
		ObjectMeta:      nothing,
		namespace:       unique.Make(o.Namespace).Value(), // one string for all objects of a namespace
		name:            o.Name,
		resourceVersion: o.ResourceVersion,
		uid:             o.UID,
		generation:      o.Generation,
	}
	if o.DeletionTimestamp != nil {
		slimmed.deletion = &deletion{since: *o.DeletionTimestamp, finalizers: o.Finalizers}
	}
	return slimmed
}

// GetNamespace implements metav1.Object.
func (o *object) GetNamespace() string { return o.namespace }

// GetName implements metav1.Object.
func (o *object) GetName() string { return o.name }

// GetResourceVersion implements metav1.Object.
func (o *object) GetResourceVersion() string { return o.resourceVersion }

// GetUID implements metav1.Object.
func (o *object) GetUID() apitypes.UID { return o.uid }

// GetGeneration implements metav1.Object.
func (o *object) GetGeneration() int64 { return o.generation }

// GetDeletionTimestamp implements metav1.Object.
func (o *object) GetDeletionTimestamp() *metav1.Time {
	if o.deletion == nil {
		return nil
	}
	return &o.deletion.since
}

// GetFinalizers implements metav1.Object. They are only known of objects that are being deleted.
func (o *object) GetFinalizers() []string {
	if o.deletion == nil {
		return nil
	}
	return o.deletion.finalizers
}
