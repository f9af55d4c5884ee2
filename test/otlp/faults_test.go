package otlp_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/tracing"
)

const (
	queueSize = 256
	// rounds alternate between two receivers, with this number of reconciles each. A round has enough spans for six queues.
	rounds, reconciles = 60, 512
	spansOfOne         = 3
	// slowest is the lowest ratio of throughput that passes. The target is 0.98; the rest is the noise of a shared machine.
	slowest = 0.9
	// grown is the memory that may be added after the queue has been full.
	grown = 2 << 20
)

// impatient are the settings under which a fault has all its effects within a second instead of a minute.
var impatient = map[string]string{
	"OTEL_BSP_MAX_QUEUE_SIZE": "256", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64", "OTEL_BSP_SCHEDULE_DELAY": "100",
	"OTEL_BSP_EXPORT_TIMEOUT": "1000", "OTEL_EXPORTER_OTLP_TIMEOUT": "500",
}

// A receiver that is down, hangs or rejects spans costs the program only traces: throughput and memory of the controller stay the
// same, and every span is either exported or counted as dropped. Afterwards, traces arrive again (O3, S18).
func TestReceiverFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	healthy := jaeger(t)
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		endpoint := map[string]string{"grpc": healthy.GRPC, "http/protobuf": healthy.HTTP}[protocol]
		reference := setup(t, protocol, endpoint, impatient)
		defer func() { _ = reference.Shutdown(context.Background()) }()
		broken := jaeger(t)
		brokenEndpoint := map[string]string{"grpc": broken.GRPC, "http/protobuf": broken.HTTP}[protocol]
		t.Run(protocol+", killed", func(t *testing.T) {
			p := setup(t, protocol, brokenEndpoint, impatient)
			if err := broken.Kill(); err != nil {
				t.Fatal(err)
			}
			under(t, reference, p)
			if err := broken.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			recovers(t, p)
		})
		t.Run(protocol+", frozen", func(t *testing.T) {
			p := setup(t, protocol, brokenEndpoint, impatient)
			if err := broken.Pause(); err != nil {
				t.Fatal(err)
			}
			under(t, reference, p)
			if err := broken.Resume(); err != nil {
				t.Fatal(err)
			}
			recovers(t, p)
		})
	}
	t.Run("http/protobuf, 429", func(t *testing.T) {
		refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer refusing.Close()
		under(t, setup(t, "http/protobuf", healthy.HTTP, impatient), setup(t, "http/protobuf", refusing.URL, impatient))
	})
}

// under compares the throughput with a broken receiver to that with a healthy one, and checks the memory and the counts of
// dropped spans.
func under(t *testing.T, healthy, broken *tracing.Provider) {
	t.Helper()
	begin := ended(broken)
	work(broken, queueSize) // fills the queue
	before := heap()
	var ratios []float64
	for range rounds {
		ratios = append(ratios, float64(work(healthy, reconciles))/float64(work(broken, reconciles)))
	}
	memory := heap() - before
	await.True(t, "failed exports counted", func() bool { return broken.DroppedSpans()[tracing.DroppedExport] > 0 })

	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	dropped := broken.DroppedSpans()
	t.Logf("throughput %.3f of that with a healthy receiver (median of %d), memory %+d KiB, dropped %v", ratio, rounds, memory>>10, dropped)
	if ratio < slowest {
		t.Errorf("throughput is %.3f of that with a healthy receiver, want at least %v", ratio, slowest)
	}
	if memory > grown {
		t.Errorf("%d KiB were added after the queue was full, want at most %d", memory>>10, grown>>10)
	}
	const spans = (queueSize + rounds*reconciles) * spansOfOne
	if missing := spans - int(ended(broken)-begin); missing < 0 || missing > queueSize {
		t.Errorf("%d of %d spans are neither exported nor dropped, want those in the queue, at most %d", missing, spans, queueSize)
	}
	if dropped[tracing.DroppedQueueFull] == 0 {
		t.Error("no span was dropped because the queue was full")
	}
}

// recovers waits until spans are exported again, and shuts the provider down.
func recovers(t *testing.T, p *tracing.Provider) {
	t.Helper()
	before := p.ExportedSpans()
	await.True(t, "spans exported again", func() bool {
		work(p, 1)
		return p.ExportedSpans() > before
	})
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// ended returns the number of spans that are exported or dropped.
func ended(p *tracing.Provider) uint64 {
	n := p.ExportedSpans()
	for _, dropped := range p.DroppedSpans() {
		n += dropped
	}
	return n
}

// work runs traced reconciles that compute for tens of microseconds, and returns how long they took.
func work(p *tracing.Provider, n int) time.Duration {
	tracer := p.Tracer("test")
	var block [16 << 10]byte
	begin := time.Now()
	for range n {
		ctx, reconcile := tracer.Start(context.Background(), "reconcile pods")
		_, wait := tracer.Start(ctx, "workqueue.wait pods")
		wait.End()
		_, request := tracer.Start(ctx, "PATCH pods")
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
		request.End()
		reconcile.End()
	}
	return time.Since(begin)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
