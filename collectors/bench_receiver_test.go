package collectors_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/tracing"
)

// BenchmarkReceiverFaults compares two controllers that trace everything with the default settings. The receiver of one works. That
// of the other is down, accepts connections but never responds, or responds with 429. The controllers process events in turn for more
// than a minute, so that exports time out. The benchmark reports the ratio of throughputs, as the median of all pairs, and the growth of
// the heap after the first ten seconds, when the queue of spans has long been full.
func BenchmarkReceiverFaults(b *testing.B) {
	healthy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer healthy.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer refusing.Close()
	frozen, down := listen(b), listen(b) // the kernel accepts connections; they are never read
	_ = down.Close()
	for _, c := range []struct{ name, endpoint string }{
		{"down", "http://" + down.Addr().String()}, {"frozen", "http://" + frozen.Addr().String()}, {"429", refusing.URL},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, reference := tracedPath(b, healthy.URL)
			provider, broken := tracedPath(b, c.endpoint)
			var ratios []float64
			var full, grown uint64
			for begin := time.Now(); time.Since(begin) < 65*time.Second; {
				// The order changes, so that neither always follows a garbage collection of the other.
				first, second := broken(), reference()
				ratios = append(ratios, first/second)
				second, first = reference(), broken()
				ratios = append(ratios, first/second)
				if full == 0 && time.Since(begin) > 10*time.Second {
					full = heap()
				}
			}
			grown = heap() - full
			slices.Sort(ratios)
			dropped := provider.DroppedSpans()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ratios[len(ratios)/2], "throughput-ratio")
			b.ReportMetric(float64(len(ratios)), "pairs")
			b.ReportMetric(float64(int64(grown))/(1<<10), "added-KiB")
			b.ReportMetric(float64(dropped[tracing.DroppedQueueFull]), "queue_full")
			b.ReportMetric(float64(dropped[tracing.DroppedExport]), "export_error")
			b.ReportMetric(float64(provider.ExportedSpans()), "exported")
		})
	}
}

// tracedPath returns the provider of a controller that exports all spans, and a function that measures its events per second.
func tracedPath(b *testing.B, endpoint string) (*tracing.Provider, func() float64) {
	b.Helper()
	for key, value := range map[string]string{
		"OTEL_TRACES_SAMPLER": "parentbased_always_on", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
	} {
		b.Setenv(key, value)
	}
	provider, err := tracing.Setup(b.Context(), tracing.Config{ServiceName: "benchmark", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = provider.Shutdown(ctx)
	})
	run := eventPath(tracing.NewTracer(provider, tracing.TracerOptions{}), func() {})
	return provider, func() float64 {
		const events = 5000
		return events / run(b, events).Seconds()
	}
}

func listen(b *testing.B) net.Listener {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
