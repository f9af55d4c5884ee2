package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.32.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Attributes of spans. There are no semantic conventions for informers and controllers; those for Kubernetes, HTTP and errors
// are used where they fit.
const (
	// InformerTypeKey is the resource of the informer: "pods", "deployments.apps".
	InformerTypeKey = attribute.Key("informer.type")
	// InformerHandlerKey is the event handler, as in the label "handler".
	InformerHandlerKey = attribute.Key("informer.handler")
	// InformerEventKey is the type of the event.
	InformerEventKey = attribute.Key("informer.event")
	// ListItemsKey is the number of objects of a list.
	ListItemsKey = attribute.Key("informer.list.items")
	// ControllerKey is the controller, as in the label "controller".
	ControllerKey = attribute.Key("controller.name")
	// ResultKey is the result of an operation, as in the label "result".
	ResultKey = attribute.Key("controller.result")
	// FinalizerKey is the finalizer of a cleanup or rollback.
	FinalizerKey = attribute.Key("k8s.finalizer")
	// QueueKey is the work queue of a wait.
	QueueKey = attribute.Key("workqueue.name")
	// RequestVerbKey, RequestResourceKey and RequestSubresourceKey are those of a request to the API server, as in the labels of
	// k8s_client_requests_total.
	RequestVerbKey        = attribute.Key("k8s.request.verb")
	RequestResourceKey    = attribute.Key("k8s.request.resource")
	RequestSubresourceKey = attribute.Key("k8s.request.subresource")
	// ObjectNameKey is the name of the object: see TracerOptions.ObjectNames.
	ObjectNameKey = attribute.Key("k8s.object.name")
	// LinksDroppedKey is the number of causes without a link, because there were too many.
	LinksDroppedKey = attribute.Key("links.dropped")
)

// nameOf returns the name of the span of an operation.
func nameOf(o spans.Operation) string {
	switch o.Kind {
	case spans.List:
		return "informer.list " + o.Name
	case spans.Deliver:
		return "informer.deliver " + o.Name
	case spans.Wait:
		return "workqueue.wait " + o.Name
	case spans.Reconcile:
		return "reconcile " + o.Name
	case spans.Request:
		if o.Subresource != "" {
			return o.Verb + " " + o.Name + "/" + o.Subresource
		}
		return o.Verb + " " + o.Name
	case spans.Cleanup:
		return "finalizer.cleanup " + o.Finalizer
	case spans.Rollback:
		return "finalizer.rollback " + o.Finalizer
	}
	return o.Name
}

func kindOf(k spans.Kind) trace.SpanKind {
	switch k {
	case spans.Deliver, spans.Reconcile:
		return trace.SpanKindConsumer
	case spans.List, spans.Request:
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}

func attributesOf(o spans.Operation) []attribute.KeyValue {
	a := make([]attribute.KeyValue, 0, 4)
	switch o.Kind {
	case spans.List:
		a = append(a, InformerTypeKey.String(o.Name))
	case spans.Deliver:
		a = append(a, InformerTypeKey.String(o.Name), InformerHandlerKey.String(o.Handler), InformerEventKey.String(o.Event))
	case spans.Wait:
		a = append(a, QueueKey.String(o.Name))
	case spans.Reconcile:
		a = append(a, ControllerKey.String(o.Name))
	case spans.Request:
		a = append(a, semconv.HTTPRequestMethodKey.String(o.Method), RequestVerbKey.String(o.Verb), RequestResourceKey.String(o.Name))
		if o.Subresource != "" {
			a = append(a, RequestSubresourceKey.String(o.Subresource))
		}
	case spans.Cleanup, spans.Rollback:
		a = append(a, ControllerKey.String(o.Name), FinalizerKey.String(o.Finalizer))
	}
	if o.WatchNamespace != "" && o.WatchNamespace != "*" {
		a = append(a, semconv.K8SNamespaceName(o.WatchNamespace))
	}
	return a
}

func linksOf(links []spans.Link) []trace.Link {
	all := make([]trace.Link, 0, len(links))
	for _, l := range links {
		config := trace.SpanContextConfig{TraceID: l.TraceID, SpanID: l.SpanID}
		if l.Sampled {
			config.TraceFlags = trace.FlagsSampled
		}
		all = append(all, trace.Link{
			SpanContext: trace.NewSpanContext(config),
			Attributes:  []attribute.KeyValue{LinkRelationKey.String(relations[l.Relation])},
		})
	}
	return all
}

// relations are the values of LinkRelationKey.
var relations = [...]string{spans.Event: "event", spans.Retried: "retried", spans.Requeued: relationRequeued, spans.Listed: relationListed}
