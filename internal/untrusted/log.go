package untrusted

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of the lines of each call site. A peer can cause any number of them.
const (
	// LogBurst is how many lines are logged at once.
	LogBurst = 100
	// LogInterval is the interval at which one more line, and the number of suppressed lines, are logged.
	LogInterval = 10 * time.Second
)

// NewLogHandler returns a handler that passes records to next with limits: at most LogBurst from each call site and one more per
// LogInterval, with messages and values truncated like Cut. It logs how many records were suppressed. It is safe for concurrent use.
func NewLogHandler(next slog.Handler) slog.Handler {
	return &logHandler{next: next, limits: &logLimits{root: next, sites: map[uintptr]*site{}}}
}

type logHandler struct {
	next   slog.Handler
	limits *logLimits
}

// logLimits has the state of all call sites. Their number is that of the program.
type logLimits struct {
	root slog.Handler

	mu    sync.Mutex
	sites map[uintptr]*site
}

// site is a place in the program that logs.
type site struct {
	limiter    *rate.Limiter
	suppressed int // since the last report
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if !h.limits.allow(r) {
		return nil
	}
	limited := slog.NewRecord(r.Time, r.Level, Cut(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		limited.AddAttrs(cutAttr(a))
		return true
	})
	return h.next.Handle(ctx, limited)
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{next: h.next.WithAttrs(cutAttrs(attrs)), limits: h.limits}
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{next: h.next.WithGroup(name), limits: h.limits}
}

// allow reports whether a record is logged. After the first one that is not, it reports how many there are.
func (l *logLimits) allow(r slog.Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sites[r.PC]
	if s == nil {
		s = &site{limiter: rate.NewLimiter(rate.Every(LogInterval), LogBurst)}
		l.sites[r.PC] = s
	}
	if s.limiter.Allow() {
		return true
	}
	if s.suppressed++; s.suppressed == 1 {
		first := slog.NewRecord(r.Time, r.Level, "similar messages suppressed", r.PC)
		first.AddAttrs(slog.String("first", Cut(r.Message)))
		time.AfterFunc(LogInterval, func() { l.report(s, first) })
	}
	return false
}

func (l *logLimits) report(s *site, r slog.Record) {
	l.mu.Lock()
	r.AddAttrs(slog.Int("suppressed", s.suppressed))
	s.suppressed = 0
	l.mu.Unlock()
	r.Time = time.Now()
	_ = l.root.Handle(context.Background(), r) // there is nowhere to report that the log cannot be written
}

func cutAttrs(attrs []slog.Attr) []slog.Attr {
	attrs = slices.Clone(attrs)
	for i, a := range attrs {
		attrs[i] = cutAttr(a)
	}
	return attrs
}

// cutAttr truncates a value as it is logged, if it is too long. Others keep their type.
func cutAttr(a slog.Attr) slog.Attr {
	switch a.Value = a.Value.Resolve(); a.Value.Kind() {
	case slog.KindGroup:
		a.Value = slog.GroupValue(cutAttrs(a.Value.Group())...)
	case slog.KindString:
		a.Value = slog.StringValue(Cut(a.Value.String()))
	case slog.KindAny:
		if text := fmt.Sprint(a.Value.Any()); len(text) > MaxText {
			a.Value = slog.StringValue(Cut(text))
		}
	}
	return a
}
