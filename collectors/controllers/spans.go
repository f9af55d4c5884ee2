package controllers

import (
	"context"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// resultOf describes the end of a reconcile, cleanup or rollback with a value of the label result. err is nil after a panic.
func resultOf(result string, err error) spans.Result {
	r := spans.Result{Result: result, Err: err}
	switch {
	case err != nil:
		r.Failed, r.ErrorType = true, errclass.ErrorType(err)
	case result == reconcilePanic: // the same as cleanupPanic
		r.Failed, r.ErrorType = true, reconcilePanic
	}
	return r
}

// eventTimeout is the span event of a cleanup that exceeded its deadline.
const eventTimeout = "finalizer.timeout"

// beginSpan starts the span of a cleanup or rollback, and returns the context for it. The labels are controller and finalizer.
func (r *registry) beginSpan(ctx context.Context, kind spans.Kind, labels []string, object any) (context.Context, core.Span) {
	if r.Tracing == nil {
		return ctx, core.Span{}
	}
	span := r.Tracing.Start(ctx, spans.Operation{Kind: kind, Name: labels[0], Finalizer: labels[1]})
	if !span.IsRecorded() {
		return ctx, span
	}
	if o, ok := object.(metav1.Object); ok && !isNil(o) {
		span.SetObject(o.GetNamespace(), o.GetName())
	}
	return span.Context(ctx), span
}

// endSpan ends the span of a cleanup and returns its trace ID.
func endSpan(span core.Span, result string, err error) (traceID string) {
	if !span.IsRecorded() {
		return ""
	}
	if result == cleanupTimeout {
		span.AddEvent(eventTimeout, time.Time{})
	}
	return span.End(resultOf(result, err))
}

// logCleanup logs the end of a cleanup or rollback. The labels are controller and finalizer.
func (r *registry) logCleanup(ctx context.Context, message string, labels []string, result string, took int64, traceID string) {
	attrs := []slog.Attr{
		slog.String("controller", labels[0]), slog.String("finalizer", labels[1]),
		slog.String("result", result), slog.Duration("duration", time.Duration(took)),
	}
	if traceID != "" {
		attrs = append(attrs, slog.String("trace_id", traceID))
	}
	r.Logger.LogAttrs(ctx, slog.LevelWarn, message, attrs...)
}
