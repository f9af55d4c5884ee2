package tracing

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

// receiver is an exporter that a test can block and break.
type receiver struct {
	spans   atomic.Int64
	block   chan struct{} // exports wait until it is closed, unless it is nil
	entered chan struct{} // receives a value when an export begins
	err     error
}

func (r *receiver) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	select {
	case r.entered <- struct{}{}:
	default:
	}
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.err != nil {
		return r.err
	}
	r.spans.Add(int64(len(spans)))
	return nil
}

func (*receiver) Shutdown(context.Context) error { return nil }

// sending returns a provider that samples everything, with a queue of ten spans and batches of two.
func sending(t *testing.T, r *receiver) *Provider {
	t.Helper()
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "10")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
	r.entered = make(chan struct{}, 1)
	counts := &exportCounts{}
	return newProvider(resource.Empty(), Config{}, newBatcher(r, counts), counts)
}

func end(p *Provider, n int) {
	tracer := p.Tracer("test")
	for range n {
		_, s := tracer.Start(context.Background(), "reconcile pods")
		s.End()
	}
}

func want(t *testing.T, p *Provider, exported, queueFull, export, shutdown uint64) {
	t.Helper()
	d := p.DroppedSpans()
	if p.ExportedSpans() != exported || d[DroppedQueueFull] != queueFull || d[DroppedExport] != export || d[DroppedShutdown] != shutdown {
		t.Errorf("exported %d, dropped %v; want %d, and %d, %d and %d for queue_full, export_error and shutdown",
			p.ExportedSpans(), d, exported, queueFull, export, shutdown)
	}
}

// With a receiver that does not respond, the queue fills up, the rest is dropped, and every span is counted once.
func TestExportBlocked(t *testing.T) {
	defer leaktest.None(t, goleak.IgnoreCurrent())
	r := &receiver{block: make(chan struct{})}
	p := sending(t, r)
	end(p, 100) // returns: nothing waits for the receiver
	want(t, p, 0, 90, 0, 0)
	close(r.block)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, p, 10, 90, 0, 0)
	if got := r.spans.Load(); got != 10 {
		t.Errorf("the receiver has %d spans, want 10", got)
	}
	end(p, 3)
	want(t, p, 10, 90, 0, 0) // the SDK records nothing after Shutdown
}

func TestExportRefused(t *testing.T) {
	r := &receiver{err: errors.New("429 Too Many Requests")}
	p := sending(t, r)
	end(p, 8)
	_ = p.Shutdown(t.Context())
	want(t, p, 0, 0, 8, 0)
}

// After a receiver has rejected an export, the next one is sent after a pause, and not immediately for each batch.
func TestExportPausesAfterError(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
	synctest.Test(t, func(t *testing.T) {
		counts := &exportCounts{}
		p := newProvider(resource.Empty(), Config{}, newBatcher(&receiver{err: errors.New("429 Too Many Requests")}, counts), counts)
		end(p, 100)
		synctest.Wait()
		want(t, p, 0, 0, 2, 0)
		time.Sleep(pauseAfterError - time.Nanosecond)
		want(t, p, 0, 0, 2, 0)
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		want(t, p, 0, 0, 4, 0)
		begin := time.Now()
		_ = p.Shutdown(context.Background())
		if took := time.Since(begin); took != 0 {
			t.Errorf("Shutdown paused for %v", took)
		}
		want(t, p, 0, 0, 100, 0)
	})
}

// The queue has room again when exports end.
func TestExportAfterBlock(t *testing.T) {
	r := &receiver{block: make(chan struct{})}
	p := sending(t, r)
	end(p, 10)
	close(r.block)
	await.True(t, "queued spans exported", func() bool { return p.ExportedSpans() == 10 })
	end(p, 4)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, p, 14, 0, 0, 0)
}

// Shutdown gives up at its deadline: the running export is canceled, the rest is dropped and counted, and no goroutine remains.
func TestShutdownDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{block: make(chan struct{})}
		p := sending(t, r)
		end(p, 7)
		<-r.entered
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want %v", err, context.DeadlineExceeded)
		}
		want(t, p, 0, 0, 0, 7)
	}) // fails if a goroutine remains
}

// Shutdown with a context that has ended drops and counts the queued spans.
func TestShutdownCanceled(t *testing.T) {
	defer leaktest.None(t, goleak.IgnoreCurrent())
	p := sending(t, &receiver{block: make(chan struct{})})
	end(p, 7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	await.True(t, "queued spans counted", func() bool { return p.DroppedSpans()[DroppedShutdown] == 7 })
	want(t, p, 0, 0, 0, 7)
}

// Without a deadline of its own, Shutdown ends after five seconds.
func TestShutdownWithoutDeadline(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	synctest.Test(t, func(t *testing.T) {
		counts := &exportCounts{}
		p := newProvider(resource.Empty(), Config{}, newBatcher(&receiver{block: make(chan struct{})}, counts), counts)
		end(p, 1)
		begin := time.Now()
		err := p.Shutdown(context.Background())
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != flushTimeout {
			t.Errorf("%v after %v, want %v after %v", err, took, context.DeadlineExceeded, flushTimeout)
		}
		want(t, p, 0, 0, 0, 1)
	})
}

func TestQueueSizeByEnv(t *testing.T) {
	for value, want := range map[string]int{"": 2048, "-1": 2048, "0": 2048, "many": 2048, "7": 7} {
		t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", value)
		if got := queueSizeByEnv(); got != want {
			t.Errorf("OTEL_BSP_MAX_QUEUE_SIZE=%q gives %d, want %d", value, got, want)
		}
	}
}
