package core

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// traceparentAnnotation has the trace context of the write that created or changed an object. The key is that of KEP-5915.
const traceparentAnnotation = "tracing.k8s.io/traceparent"

// Traceparent returns the trace context in the annotations of an object, "" without one or without tracing. It does not allocate.
func (t *Tracing) Traceparent(object any) string {
	if t == nil {
		return ""
	}
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	switch o := object.(type) {
	case *unstructured.Unstructured: // its GetAnnotations copies them
		metadata, _ := o.Object["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		value, _ := annotations[traceparentAnnotation].(string)
		return value
	case metav1.Object:
		return o.GetAnnotations()[traceparentAnnotation]
	}
	return ""
}
