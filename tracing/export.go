package tracing

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Reasons for dropped spans, the keys of Provider.DroppedSpans.
const (
	// DroppedQueueFull counts spans that ended while OTEL_BSP_MAX_QUEUE_SIZE spans waited to be exported.
	DroppedQueueFull = "queue_full"
	// DroppedExport counts spans that the receiver rejected, or did not accept in time.
	DroppedExport = "export_error"
	// DroppedShutdown counts spans that were not exported before the deadline of Shutdown.
	DroppedShutdown = "shutdown"
	// DroppedTail counts spans of reconciles for which the buffer of Tail had no room.
	DroppedTail = "tail_buffer_full"
)

const (
	// defaultQueueSize is the default of OTEL_BSP_MAX_QUEUE_SIZE.
	defaultQueueSize = sdktrace.DefaultMaxQueueSize
	// flushTimeout limits Shutdown if its context has no deadline.
	flushTimeout = 5 * time.Second
	// pauseAfterError is the time between the beginning of a failed export and the next one. If a receiver asks for a longer pause
	// than the exporter's retries last, the exporter itself does not wait, and the next batch would be sent immediately.
	pauseAfterError = 5 * time.Second
	// abandonTimeout is how long Shutdown waits for exports to end after it has canceled them.
	abandonTimeout = time.Second
)

// exportCounts counts exported and dropped spans.
type exportCounts struct{ exported, queueFull, export, shutdown, tail atomic.Uint64 }

// batcher is the SDK's batch processor. It also counts exported and dropped spans, which the SDK does not report. It drops spans before
// the SDK's queue is full, so that the SDK itself never drops one.
type batcher struct {
	sdktrace.SpanProcessor // of the SDK

	counts *exportCounts
	limit  int64
	// pending is the number of spans in the queue and in the running export.
	pending atomic.Int64
	// closing is closed by Shutdown.
	closing chan struct{}
	closed  atomic.Bool
	// abandoned is canceled at the deadline of Shutdown; exports then end immediately.
	abandoned context.Context
	abandon   context.CancelFunc
	// drained is closed when the SDK has passed on its last span.
	drained chan struct{}
}

func newBatcher(exporter sdktrace.SpanExporter, counts *exportCounts) *batcher {
	b := &batcher{counts: counts, limit: int64(queueSizeByEnv()), closing: make(chan struct{}), drained: make(chan struct{})}
	b.abandoned, b.abandon = context.WithCancel(context.Background())
	b.SpanProcessor = sdktrace.NewBatchSpanProcessor(&countingExporter{exporter, b}, sdktrace.WithMaxQueueSize(int(b.limit)))
	return b
}

// OnEnd queues a span. It never blocks.
func (b *batcher) OnEnd(s sdktrace.ReadOnlySpan) {
	switch {
	case !s.SpanContext().IsSampled():
	case b.closed.Load():
		b.counts.shutdown.Add(1)
	case b.pending.Add(1) > b.limit:
		b.pending.Add(-1)
		b.counts.queueFull.Add(1)
	default:
		b.SpanProcessor.OnEnd(s)
	}
}

// Shutdown exports the queued spans until ctx ends, and drops the rest.
func (b *batcher) Shutdown(ctx context.Context) error {
	if b.closed.Swap(true) {
		return nil
	}
	close(b.closing)
	defer b.abandon()
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	err := b.SpanProcessor.Shutdown(ctx)
	if ctx.Err() == nil {
		return err
	}
	b.abandon()
	select {
	case <-b.drained:
	case <-time.After(abandonTimeout):
	}
	return err
}

// countingExporter counts the spans of each export.
type countingExporter struct {
	sdktrace.SpanExporter

	batcher *batcher
}

// ExportSpans exports the spans, or drops them if the export fails: the exporter has retried before it returns an error.
func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	begin, n := time.Now(), len(spans)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.batcher.abandoned, cancel)()
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.batcher.pending.Add(-int64(n))
	counts := e.batcher.counts
	switch {
	case err == nil:
		counts.exported.Add(uint64(n))
	case e.batcher.abandoned.Err() != nil:
		counts.shutdown.Add(uint64(n))
		return errors.Join(errAbandoned, err)
	default:
		counts.export.Add(uint64(n))
		e.batcher.pause(ctx, pauseAfterError-time.Since(begin))
	}
	return err
}

// pause delays the next export. Meanwhile, the queue fills up.
func (b *batcher) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.closing:
	case <-ctx.Done():
	}
}

var errAbandoned = errors.New("not exported before the deadline of the shutdown")

// Shutdown is called after the last export.
func (e *countingExporter) Shutdown(ctx context.Context) error {
	defer close(e.batcher.drained)
	return e.SpanExporter.Shutdown(ctx)
}
