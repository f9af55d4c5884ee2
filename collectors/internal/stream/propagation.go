package stream

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// observePropagation records the time since an object was written. It runs before any Transform, which may remove
// managedFields. Unstructured objects are skipped: reading their managedFields copies them.
func (c *Connection) observePropagation(object runtime.Object) {
	accessor, ok := object.(metav1.ObjectMetaAccessor)
	if !ok {
		return
	}
	objectMeta, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta)
	if !ok || objectMeta.DeletionTimestamp != nil {
		return // managedFields does not record when the API server sets a deletionTimestamp
	}
	var written time.Time
	for i := range objectMeta.ManagedFields {
		if t := objectMeta.ManagedFields[i].Time; t != nil && t.After(written) {
			written = t.Time
		}
	}
	if !written.IsZero() {
		c.metrics.propagation.Observe(max(0, time.Since(written).Seconds()))
	}
}
