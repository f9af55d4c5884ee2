package informer

import (
	"runtime/debug"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// shared is the state that the informers of one Observer share.
type shared struct {
	*core.Observer
	checks *checks.Shared
	// upstream are the labels in use of client-go's own metrics.
	upstream series.Pool[upstreamLabels, struct{}]
	// tracerPanic logs the first panic of the Tracer.
	tracerPanic sync.Once
}

// upstreamLabels are name, group, version and resource.
type upstreamLabels [4]string

// logTracerPanic logs the first panic only: the Tracer may panic for each event.
func (s *shared) logTracerPanic(value any) {
	s.tracerPanic.Do(func() {
		s.Logger.Error("tracer panicked, further panics of it are not logged", "panic", value, "stack", string(debug.Stack()))
	})
}
