package apiclient

import (
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// beginSpan starts the span of a request. A Tracer records it only if the context of the request has a span: requests of a
// reconcile have one, requests of an informer do not. The request is not changed: the API server gets no trace header.
func (r *registry) beginSpan(request *http.Request, parsed apipath.Request) core.Span {
	if !r.Tracing.MayRecord(request.Context()) {
		return core.Span{}
	}
	return r.Tracing.Start(request.Context(), spans.Operation{
		Kind: spans.Request, Name: r.label(parsed.Group, parsed.Resource), Verb: parsed.Verb, Subresource: subresourceOf(parsed), Method: request.Method,
	})
}

// label returns the value of the label resource.
func (r *registry) label(group, resource string) string {
	r.mu.RLock()
	name, known := r.names[schema.GroupResource{Group: group, Resource: resource}]
	r.mu.RUnlock()
	if known {
		return name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resource(group, resource)
}

// endSpan ends the span of a request and returns its trace ID.
func endSpan(span core.Span, code int, err error) (traceID string) {
	if !span.IsRecorded() {
		return ""
	}
	result := spans.Result{Code: code, Err: err}
	switch {
	case code == noAnswer:
		result.Failed, result.ErrorType = true, codeError
	case code >= http.StatusBadRequest:
		result.Failed, result.ErrorType = true, strconv.Itoa(code)
	}
	return span.End(result)
}
