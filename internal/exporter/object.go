package exporter

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

// slim makes an object of metadata, leaves what is read as a whole to the signals that it is for, and leaves alone what it
// has made before: a streaming list transforms twice. It runs for each event, under a lock of the informer.
func slim(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return objects.Transform(obj)
	}
	slimmed := &object{
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
	return slimmed, nil
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
