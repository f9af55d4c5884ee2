package tracing

import (
	"context"
	"log/slog"
	"slices"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
)

// Keys of log lines.
const (
	logTraceID = "trace_id"
	logSpanID  = "span_id"
)

// NewLogHandler returns a handler that adds trace_id and span_id to records with a span in their context:
//
//	slog.SetDefault(slog.New(tracing.NewLogHandler(slog.NewJSONHandler(os.Stderr, nil))))
//	slog.InfoContext(ctx, "updated") // ctx of the reconcile
//
// Records without a sampled span, and those that have a trace_id outside of groups, are passed unchanged. The IDs are never in a
// group.
func NewLogHandler(inner slog.Handler) slog.Handler { return logHandler{Handler: inner, root: inner} }

type logHandler struct {
	slog.Handler
	// root is the handler before the first group, and inGroups are the calls of its methods since then.
	root     slog.Handler
	inGroups []func(slog.Handler) slog.Handler
	// hasTraceID is set if root has a trace_id.
	hasTraceID bool
}

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsSampled() || !c.IsValid() || h.hasTraceID || len(h.inGroups) == 0 && hasTraceID(r) {
		return h.Handler.Handle(ctx, r)
	}
	inner := h.root.WithAttrs([]slog.Attr{slog.String(logTraceID, c.TraceID().String()), slog.String(logSpanID, c.SpanID().String())})
	for _, call := range h.inGroups {
		inner = call(inner)
	}
	return inner.Handle(ctx, r)
}

func hasTraceID(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		found = isTraceID(a)
		return !found
	})
	return found
}

func isTraceID(a slog.Attr) bool { return a.Key == logTraceID }

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.inGroups) > 0 {
		return h.inGroup(func(inner slog.Handler) slog.Handler { return inner.WithAttrs(attrs) })
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	h.root, h.hasTraceID = h.Handler, h.hasTraceID || slices.ContainsFunc(attrs, isTraceID)
	return h
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.inGroup(func(inner slog.Handler) slog.Handler { return inner.WithGroup(name) })
}

func (h logHandler) inGroup(call func(slog.Handler) slog.Handler) slog.Handler {
	h.Handler, h.inGroups = call(h.Handler), append(slices.Clip(h.inGroups), call)
	return h
}

// LogrWithTrace returns a logger that adds trace_id and span_id of the span in ctx. With controller-runtime:
//
//	log := tracing.LogrWithTrace(ctx, log.FromContext(ctx))
//
// Without a sampled span, it returns the logger unchanged.
func LogrWithTrace(ctx context.Context, logger logr.Logger) logr.Logger {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsSampled() || !c.IsValid() {
		return logger
	}
	return logger.WithValues(logTraceID, c.TraceID().String(), logSpanID, c.SpanID().String())
}
