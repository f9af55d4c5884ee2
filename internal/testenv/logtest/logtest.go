// Package logtest records log lines in tests.
package logtest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// Recorder records log lines. The zero value is ready to use.
type Recorder struct {
	mu    sync.Mutex
	lines []Line
}

// Line is one record: its message and its attributes by key.
type Line struct {
	Level   slog.Level
	Message string
	Attrs   map[string]string
}

// Logger returns a logger that writes to the recorder, debug lines included.
func (r *Recorder) Logger() *slog.Logger { return slog.New(&handler{recorder: r}) }

// Find returns the lines at level info or above that contain part in their message and have the given attributes,
// alternately keys and values.
func (r *Recorder) Find(part string, attrs ...string) []Line {
	return r.find(func(level slog.Level) bool { return level >= slog.LevelInfo }, part, attrs)
}

// FindDebug is like Find, but for lines at level debug.
func (r *Recorder) FindDebug(part string, attrs ...string) []Line {
	return r.find(func(level slog.Level) bool { return level == slog.LevelDebug }, part, attrs)
}

func (r *Recorder) find(at func(slog.Level) bool, part string, attrs []string) []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []Line
	for _, line := range r.lines {
		matches := at(line.Level) && strings.Contains(line.Message, part)
		for pair := range slices.Chunk(attrs, 2) {
			matches = matches && line.Attrs[pair[0]] == pair[1]
		}
		if matches {
			found = append(found, line)
		}
	}
	return found
}

type handler struct {
	recorder *Recorder
	attrs    []slog.Attr
}

var _ slog.Handler = (*handler)(nil)

// Enabled implements slog.Handler.
func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	line := Line{Level: r.Level, Message: r.Message, Attrs: map[string]string{}}
	for _, a := range h.attrs {
		line.Attrs[a.Key] = a.Value.String()
	}
	r.Attrs(func(a slog.Attr) bool {
		line.Attrs[a.Key] = a.Value.String()
		return true
	})
	h.recorder.mu.Lock()
	defer h.recorder.mu.Unlock()
	h.recorder.lines = append(h.recorder.lines, line)
	return nil
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{recorder: h.recorder, attrs: slices.Concat(h.attrs, attrs)}
}

// WithGroup implements slog.Handler. Groups are ignored.
func (h *handler) WithGroup(string) slog.Handler { return h }
