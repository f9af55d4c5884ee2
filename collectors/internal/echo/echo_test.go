package echo_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const second = int64(time.Second)

// fixture is an informer of Pods in all namespaces.
type fixture struct {
	obs      *core.Observer
	registry *prometheus.Registry
	watches  *echo.Watches
	*echo.Watch
	ring *ring.Ring
}

func newFixture(t testing.TB) *fixture {
	o, registry := observertest.New(t)
	f := &fixture{obs: core.Of(o), registry: registry, watches: echo.Of(core.Of(o))}
	f.Watch, f.ring = f.add("")
	return f
}

var pods = schema.GroupResource{Resource: "pods"}

// add adds an informer.
func (f *fixture) add(namespace string) (*echo.Watch, *ring.Ring) {
	r := ring.New(1024)
	w := echo.New(r)
	f.watches.Add(pods, namespace, w)
	return w, r
}

// wrote records a write that took a second.
func (f *fixture) wrote(version uint64, answered int64) {
	f.watches.Wrote(&echo.Write{Resource: "pods", Namespace: "n", Label: "pods", Version: version, Sent: answered - second, Answered: answered})
}

// receive receives an event as a connection does.
func (f *fixture) receive(version uint64, at int64) {
	f.Version.Store(version)
	f.ring.Push(version, at)
	f.Received(version, at)
}

// check verifies the number of echoes and their sum, and the writes without one.
func (f *fixture) check(t *testing.T, count, sum, without float64) {
	t.Helper()
	s := metricstest.Take(t, f.registry)
	for series, want := range map[string]float64{
		"k8s_client_write_echo_seconds_count{resource=pods}": count,
		"k8s_client_write_echo_seconds_sum{resource=pods}":   sum,
		"k8s_client_writes_without_echo{resource=pods}":      without,
	} {
		if s[series] != want {
			t.Errorf("%s is %v, want %v", series, s[series], want)
		}
	}
}

// TestEcho covers P9: an event is the echo of a write if it has the version of the write, and only once.
func TestEcho(t *testing.T) {
	for name, c := range map[string]struct {
		do                  func(*fixture)
		count, sum, without float64
	}{
		"no event": {func(f *fixture) { f.wrote(7, 10*second) }, 0, 0, 1},
		"an event": {func(f *fixture) { f.wrote(7, 10*second); f.receive(7, 12*second) }, 1, 2, 0},
		"an event, twice as after an undone watch": {func(f *fixture) {
			f.wrote(7, 10*second)
			f.receive(7, 12*second)
			f.receive(7, 13*second)
		}, 1, 2, 0},
		"an earlier event":                             {func(f *fixture) { f.wrote(7, 10*second); f.receive(6, 11*second) }, 0, 0, 1},
		"an event in the same slot":                    {func(f *fixture) { f.wrote(7, 10*second); f.receive(7+1024, 11*second) }, 0, 0, 0},
		"a later event: the object is out of sight":    {func(f *fixture) { f.wrote(7, 10*second); f.receive(8, 11*second) }, 0, 0, 0},
		"a bookmark: the object is out of sight":       {func(f *fixture) { f.wrote(7, 10*second); f.Version.Store(9) }, 0, 0, 0},
		"an event before the response":                 {func(f *fixture) { f.receive(7, 9*second+1); f.wrote(7, 10*second) }, 1, 0, 0},
		"two events before the response":               {func(f *fixture) { f.receive(7, 9*second+1); f.receive(8, 9*second+2); f.wrote(7, 10*second) }, 1, 0, 0},
		"an event before the request: nothing changed": {func(f *fixture) { f.receive(7, 9*second-1); f.wrote(7, 10*second) }, 0, 0, 0},
		"a version before all events: nothing changed": {func(f *fixture) { f.receive(7, 9*second); f.wrote(6, 10*second) }, 0, 0, 0},
		"two writes, answered in the other order": {func(f *fixture) {
			f.wrote(8, 10*second)
			f.wrote(7, 11*second)
			f.receive(7, 12*second)
			f.receive(8, 13*second)
		}, 2, 4, 0},
		"a list": {func(f *fixture) {
			f.wrote(7, 10*second)
			f.Listed(7, func() int64 { return 12 * second })
			f.Version.Store(7)
		}, 1, 2, 0},
		"a list again: the informer had the object before":   {func(f *fixture) { f.Version.Store(7); f.wrote(7, 10*second); f.Listed(7, f.obs.Now) }, 0, 0, 0},
		"a list of an object that others have changed since": {func(f *fixture) { f.wrote(7, 10*second); f.Listed(9, f.obs.Now); f.Version.Store(9) }, 0, 0, 0},
		"another resource": {func(f *fixture) {
			f.watches.Wrote(&echo.Write{Resource: "nodes", Label: "nodes", Version: 7, Answered: second})
			f.receive(7, 2*second)
		}, 0, 0, 0},
		"no informer any more": {func(f *fixture) { f.wrote(7, second); f.watches.Remove(pods, f.Watch) }, 0, 0, 0},
		"more than are remembered": {func(f *fixture) {
			for v := uint64(1); v <= 3000; v++ {
				f.wrote(v, second)
			}
			for v := uint64(1); v <= 3000; v++ {
				f.receive(v, second)
			}
		}, 1024, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.do(f)
			f.check(t, c.count, c.sum, c.without)
		})
	}
}

// Each informer that sees the object has an echo; one of another namespace has none, and waits for none.
func TestEchoesOfSeveralInformers(t *testing.T) {
	f := newFixture(t)
	same, _ := f.add("n")
	f.add("other")
	f.wrote(7, 10*second)
	f.check(t, 0, 0, 2)
	same.Version.Store(7)
	same.Received(7, 11*second)
	f.check(t, 1, 1, 1)
	f.receive(7, 15*second)
	f.check(t, 2, 6, 0)
}

// The age is that of the oldest write.
func TestOldestWriteWithoutEcho(t *testing.T) {
	f := newFixture(t)
	age := func() float64 {
		return metricstest.Take(t, f.registry)["k8s_client_oldest_write_without_echo_seconds{resource=pods}"]
	}
	f.wrote(7, f.obs.Now()-50*second)
	f.wrote(8, f.obs.Now()-20*second)
	if got := age(); got < 50 {
		t.Errorf("%v s, want 50", got)
	}
	f.receive(7, f.obs.Now())
	if got := age(); got < 20 || got >= 50 {
		t.Errorf("%v s, want 20", got)
	}
	f.receive(8, f.obs.Now())
	if got := age(); got != 0 {
		t.Errorf("%v s without a write", got)
	}
}

// Writes and events on many goroutines lose no echo: each write is found by its event, or its event by the write.
func TestEchoRaces(t *testing.T) {
	f := newFixture(t)
	const n = 1000
	wrote := make(chan uint64, n)
	go func() {
		defer close(wrote)
		for v := uint64(1); v <= n; v++ {
			wrote <- v
			f.wrote(v, 1)
		}
	}()
	for v := range wrote {
		f.receive(v, 2)
	}
	for range 2 {
		f.watches.Collect(make(chan prometheus.Metric, 10))
	}
	metricstest.Await(t, f.registry, metricstest.Snapshot{"k8s_client_write_echo_seconds_count{resource=pods}": n})
}

// A write and an event, with an echo and without one, do not allocate.
func TestEchoDoesNotAllocate(t *testing.T) {
	f := newFixture(t)
	f.wrote(1, second)
	f.receive(1, second)
	version := uint64(1)
	if n := testing.AllocsPerRun(100, func() {
		version++
		f.wrote(version, second)
		f.receive(version, second)
		version++
		f.receive(version, second)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
