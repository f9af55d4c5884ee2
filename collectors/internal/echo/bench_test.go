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
	by := f.watches.Writer("c")
	w := &echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Answered: 1, By: by}
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
	budget.Ratio(b, 20_000, run(func() {}), run(func() {
		pending := f.watches.Sending(by, "", "pods")
		f.watches.Wrote(w)
		pending.Answered()
	}))
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

// BenchmarkDelivery measures what an event adds on its way to a reconcile, from its delivery through Add and Get to Done: an event that
// is no echo of a controller that writes, and an echo, which finds out its goroutine.
func BenchmarkDelivery(b *testing.B) {
	l := newLoop(b)
	l.send("c")(1)
	run := func(event func(version uint64), step uint64) budget.Workload {
		version := uint64(1)
		return func(_ *testing.B, n int) time.Duration {
			begin := time.Now()
			for range n {
				version += step // never 1 modulo the number of slots if it is 2
				event(version)
			}
			return time.Since(begin)
		}
	}
	event := func(version uint64) {
		if l.handler.Deliver(l.Watch, version) {
			defer l.handler.Delivered()
		}
		l.Added("k")
		l.Got("k")
		l.Done("k")
	}
	for name, step := range map[string]uint64{"other": 2, "echo": 0} {
		b.Run(name, func(b *testing.B) { budget.Ratio(b, 20_000, run(func(uint64) {}, step), run(event, step)) })
	}
}
