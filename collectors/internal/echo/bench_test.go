package echo_test

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

// BenchmarkWrite measures what a write to a watched resource adds. The budget is 150 ns and no allocation.
func BenchmarkWrite(b *testing.B) {
	f := newFixture(b)
	w := &echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Answered: 1}
	run := func(record func()) budget.Workload {
		return func(_ *testing.B, n int) time.Duration {
			begin := time.Now()
			for range n {
				w.Version++
				record()
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 20_000, run(func() {}), run(func() { f.watches.Wrote(w) }))
}

// BenchmarkEvent measures what an event that is no echo adds: one comparison.
func BenchmarkEvent(b *testing.B) {
	f := newFixture(b)
	f.wrote(1, 1)
	version := uint64(2)
	run := func(receive func(uint64, int64)) budget.Workload {
		return func(_ *testing.B, n int) time.Duration {
			begin := time.Now()
			for range n {
				version += 2 // never 1 modulo the number of slots
				receive(version, 1)
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 20_000, run(func(uint64, int64) {}), run(f.Received))
}
