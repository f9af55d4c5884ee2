package echo_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

const selfCaused = "controller_self_caused_reconciles_total{controller=c}"

// loop is a controller with a queue, and an event handler on a goroutine of its own.
type loop struct {
	*fixture
	*echo.Items[string]
	handler *echo.Handler
	calls   chan func()
}

func newLoop(t testing.TB) *loop {
	f := newFixture(t)
	f.watches.ReportWrites()
	count := f.obs.Metrics.Scope("c").LazyCounter(catalog.ControllerSelfCaused)
	l := &loop{fixture: f, Items: echo.NewItems[string](f.obs, "c", count), handler: f.watches.Handler(), calls: make(chan func())}
	t.Cleanup(sync.OnceFunc(func() { close(l.calls) }))
	go func() {
		for call := range l.calls {
			call()
		}
	}()
	return l
}

// deliver calls the handler with an event.
func (l *loop) deliver(version uint64, handle func()) {
	done := make(chan struct{})
	l.calls <- func() {
		defer close(done)
		if l.handler.Deliver(l.Watch, version) {
			defer l.handler.Delivered()
		}
		handle()
	}
	<-done
}

func (l *loop) add(version uint64) { l.deliver(version, func() { l.Added("k") }) }

// send sends a write of a controller, empty for a write of no controller.
func (l *loop) send(controller string) (answer func(version uint64)) {
	ctx := context.Background()
	if controller != "" {
		ctx = l.watches.Writer(controller).Context(ctx)
	}
	by := echo.WriterOf(ctx)
	pending := l.watches.Sending(by, "", "pods")
	return func(version uint64) {
		l.watches.Wrote(&echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Version: version, Sent: 1, Answered: 2, By: by})
		pending.Answered()
	}
}

func (l *loop) reconcile() {
	l.Got("k")
	l.Done("k")
}

// TestSelfCaused covers S9: a reconcile is self-caused if the last event that added its item is a write of the controller, in any order
// of response, event and reconcile.
func TestSelfCaused(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*loop)
		want float64
	}{
		"response, event": {func(l *loop) { l.send("c")(7); l.add(7); l.reconcile() }, 1},
		"event, response": {func(l *loop) {
			answer := l.send("c")
			l.add(7)
			answer(7)
			l.reconcile()
		}, 1},
		"event, reconcile, response": {func(l *loop) {
			answer := l.send("c")
			l.add(7)
			l.Got("k")
			answer(7)
			l.Done("k")
		}, 1},
		"event while the item is processed": {func(l *loop) {
			l.Got("k")
			l.send("c")(7)
			l.add(7)
			l.Done("k")
			l.reconcile()
		}, 1},
		"each reconcile writes": {func(l *loop) {
			for version := uint64(1); version <= 100; version++ {
				l.Got("k")
				answer := l.send("c")
				l.add(version)
				answer(version)
				l.Done("k")
			}
		}, 99},
		"event of another client, while a write has no response": {func(l *loop) {
			answer := l.send("c")
			l.add(6)
			answer(7)
			l.reconcile()
		}, 0},
		"event of another client, later":  {func(l *loop) { l.send("c")(7); l.add(7); l.add(8); l.reconcile() }, 0},
		"event of another client, before": {func(l *loop) { l.send("c")(7); l.add(6); l.add(7); l.reconcile() }, 1},
		"event of another client for another item": {func(l *loop) {
			l.send("c")(7)
			l.add(7)
			l.deliver(8, func() { l.Added("other") })
			l.reconcile()
		}, 1},
		"requeue": {func(l *loop) { l.send("c")(7); l.add(7); l.Added("k"); l.reconcile() }, 1},
		"add on another goroutine": {func(l *loop) {
			l.send("c")(7)
			l.deliver(7, func() {
				done := make(chan struct{})
				go func() { l.Added("k"); close(done) }()
				<-done
			})
			l.reconcile()
		}, 0},
		"object of a list":   {func(l *loop) { l.send("c")(7); l.add(0); l.reconcile() }, 0},
		"another controller": {func(l *loop) { l.send("c")(6); l.send("d")(7); l.add(7); l.reconcile() }, 0},
		"no controller":      {func(l *loop) { l.send("c")(6); l.send("")(7); l.add(7); l.reconcile() }, 0},
		"more items than are remembered": {func(l *loop) {
			l.send("c")(7)
			for i := range 10_001 {
				l.deliver(7, func() { l.Added(strconv.Itoa(i)) })
			}
			for i := range 10_001 {
				l.Got(strconv.Itoa(i))
				l.Done(strconv.Itoa(i))
			}
		}, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			c.do(l)
			if got, ok := metricstest.Take(t, l.registry)[selfCaused]; got != c.want || !ok {
				t.Errorf("%v (%v), want %v", got, ok, c.want)
			}
		})
	}
}

// Without a write of the controller to a resource that the program watches, there is no series.
func TestNotSelfCaused(t *testing.T) {
	for name, do := range map[string]func(*loop){
		"no write":           func(l *loop) { l.add(7) },
		"no controller":      func(l *loop) { l.send("")(7); l.add(7) },
		"another controller": func(l *loop) { l.send("d")(7); l.add(7) },
		"no watch":           func(l *loop) { l.watches.Remove(pods, l.Watch); l.send("c")(7); l.add(7) },
		"beyond the limit of controllers": func(l *loop) {
			for i := range 1000 {
				l.watches.Writer(strconv.Itoa(i))
			}
			if w := l.watches.Writer("one more"); w != nil || w.Context(t.Context()) != t.Context() {
				t.Error("there is no limit")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			do(l)
			l.reconcile()
			if s := metricstest.Take(t, l.registry).Family("controller_self_caused_reconciles_total"); len(s) > 0 {
				t.Error(s)
			}
		})
	}
}

// A program without transports that report writes has the contexts that it passes.
func TestContextWithoutTransport(t *testing.T) {
	f := newFixture(t)
	if ctx := f.watches.Writer("c").Context(t.Context()); ctx != t.Context() || echo.WriterOf(ctx) != nil {
		t.Error("another context")
	}
}

// A handler that has ended is forgotten, and its goroutine may be another's.
func TestHandlerEnds(t *testing.T) {
	l := newLoop(t)
	l.send("c")(7)
	l.deliver(7, func() { l.handler.End(); l.Added("k") })
	l.reconcile()
	if got := metricstest.Take(t, l.registry)[selfCaused]; got != 0 {
		t.Errorf("%v", got)
	}
}

// The event of a write arrives while its response does, and is counted in any order.
func TestSelfCausedRaces(t *testing.T) {
	l := newLoop(t)
	const n = 2000
	for version := uint64(1); version <= n; version++ {
		l.Got("k")
		answer := l.send("c")
		var both sync.WaitGroup
		both.Go(func() { answer(version) })
		both.Go(func() { l.add(version) })
		both.Go(func() { l.Added("other") })
		both.Wait()
		l.Done("k")
	}
	if got := metricstest.Take(t, l.registry)[selfCaused]; got != n-1 {
		t.Errorf("%v of %d", got, n-1)
	}
}

// Events, items and writes do not allocate, whether they are self-caused or not.
func TestSelfCausedDoesNotAllocate(t *testing.T) {
	l := newLoop(t)
	version := uint64(0)
	writer := l.watches.Writer("c")
	round := func() {
		version++
		pending := l.watches.Sending(writer, "", "pods")
		l.watches.Wrote(&echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Version: version, Sent: 1, Answered: 2, By: writer})
		pending.Answered()
		for range 2 { // an echo, and another event
			began := l.handler.Deliver(l.Watch, version)
			l.Added("k")
			if began {
				l.handler.Delivered()
			}
			l.Got("k")
			l.Done("k")
			version++
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := metricstest.Take(t, l.registry)[selfCaused]; got != 102 {
		t.Errorf("%v self-caused", got)
	}
}
