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
func (c *cleanups) endSpan(span core.Span, ended *outcome, err error) (traceID string) {
	if !span.IsRecorded() {
		return ""
	}
	if ended == c.timedOut {
		span.AddEvent(eventTimeout, time.Time{})
	}
	return span.End(resultOf(ended.result, err))
}

// cleanupLog are the attributes of a log line.
type cleanupLog struct {
	labels  []string // controller and finalizer
	result  string
	took    int64
	traceID string
}

func (r *registry) logCleanup(ctx context.Context, message string, l cleanupLog) {
	attrs := []slog.Attr{
		slog.String("controller", l.labels[0]), slog.String("finalizer", l.labels[1]),
		slog.String("result", l.result), slog.Duration("duration", time.Duration(l.took)),
	}
	if l.traceID != "" {
		attrs = append(attrs, slog.String("trace_id", l.traceID))
	}
	r.Logger.LogAttrs(ctx, slog.LevelWarn, message, attrs...)
}
