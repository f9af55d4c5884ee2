package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// TraceparentAnnotation is the annotation in which other programs store the context of the write that created or changed an
// object, in the format of W3C Trace Context. The key is that of the Kubernetes proposal KEP-5915, which is not accepted yet.
const TraceparentAnnotation = "tracing.k8s.io/traceparent"

const traceparent = "traceparent" // the name of the header

// FromAnnotations returns the remote span context in an object's annotations, or an invalid one if there is none. It does not
// allocate without the annotation.
//
// Link to it instead of using it as a parent: the annotation stays on the object, so every later event has the same one.
func FromAnnotations(annotations map[string]string) trace.SpanContext {
	return parseTraceparent(annotations[TraceparentAnnotation])
}

func parseTraceparent(value string) trace.SpanContext {
	if value == "" || len(value) > maxTraceparent {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: value})
	return trace.SpanContextFromContext(ctx)
}

// hasSampledFlag returns false if the context is not sampled. Unlike parseTraceparent, it does not allocate. Only a context for
// which it returns true has to be parsed.
func hasSampledFlag(value string) bool {
	const flags = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0") // precedes the lowest flags
	return len(value) > flags && strings.IndexByte("13579bdf", value[flags]) >= 0
}

// maxTraceparent is far above the 55 bytes of the format's first version. Clients that may edit an object can write anything.
const maxTraceparent = 128

// Annotate writes the span context of ctx to the annotations and returns them. Without a sampled span, it returns them
// unchanged.
//
// The library never calls it. Use it for objects that a reconcile creates. On an object that the controller watches itself,
// every write causes an event, and a reconcile that annotates it each time loops forever.
func Annotate(ctx context.Context, annotations map[string]string) map[string]string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return annotations
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[TraceparentAnnotation] = carrier[traceparent]
	return annotations
}
