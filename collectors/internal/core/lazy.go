package core

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Gate ends the creation of series: a late write must not recreate a deleted series. The zero value is open.
type Gate struct {
	mu     sync.Mutex
	closed bool
}

// Close prevents the creation of new lazy series. The caller deletes the existing ones afterwards.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// lazy holds series of one metric that are created by their first use, because most values of a label never occur. All methods are
// safe for concurrent use.
type lazy[S any] struct {
	gate *Gate
	// values are those of the last label, nil for a single series.
	values []string
	labels []string
	create func(labels ...string) S
	series []atomic.Pointer[S]
}

func newLazy[S any](gate *Gate, labels, values []string, create func(labels ...string) S) lazy[S] {
	return lazy[S]{gate: gate, values: values, labels: labels, create: create, series: make([]atomic.Pointer[S], max(1, len(values)))}
}

// of returns the series of a value, nil for values outside the closed set and after the gate was closed.
func (l *lazy[S]) of(value string) *S {
	at := 0
	if l.values != nil {
		if at = slices.Index(l.values, value); at < 0 {
			return nil
		}
	}
	if s := l.series[at].Load(); s != nil {
		return s
	}
	return l.add(at)
}

func (l *lazy[S]) add(at int) *S {
	l.gate.mu.Lock()
	defer l.gate.mu.Unlock()
	if s := l.series[at].Load(); s != nil || l.gate.closed {
		return s
	}
	labels := l.labels
	if l.values != nil {
		labels = append(slices.Clone(labels), l.values[at])
	}
	s := l.create(labels...)
	l.series[at].Store(&s)
	return &s
}

// CounterSet is a counter for each value of a metric's last label. Those in catalog.Metric.AtZero exist from the start, the
// others once they have increased.
type CounterSet struct{ lazy[prometheus.Counter] }

// Inc increases the counter of a value by 1.
func (s *CounterSet) Inc(value string) { s.Add(value, 1) }

// Add increases the counter of a value. Adding 0 creates it.
func (s *CounterSet) Add(value string, n float64) {
	if c := s.of(value); c != nil {
		(*c).Add(n)
	}
}

// LazyCounter is a counter that exists once it has increased.
type LazyCounter struct{ set CounterSet }

// Add increases the counter. Adding 0 creates it.
func (c *LazyCounter) Add(n float64) { c.set.Add("", n) }

// ObserverSet is a histogram or summary for each value of a metric's last label, created by its first observation.
type ObserverSet struct{ lazy[prometheus.Observer] }

// Observe adds an observation to the series of a value.
func (s *ObserverSet) Observe(value string, x float64) { s.ObserveTraced(value, x, "") }

// ObserveTraced is Observe with a trace ID as the exemplar, unless it is empty or the metric is a summary.
func (s *ObserverSet) ObserveTraced(value string, x float64, traceID string) {
	if o := s.of(value); o != nil {
		Observe(*o, x, traceID)
	}
}

// LazyObserver is a summary that exists once it has an observation.
type LazyObserver struct{ set ObserverSet }

// Observe adds an observation.
func (o *LazyObserver) Observe(x float64) { o.set.Observe("", x) }

// CounterSet returns the counters for the closed set of values of the metric's last label.
func (v *Vectors) CounterSet(gate *Gate, m catalog.Counter, labels ...string) *CounterSet {
	s := &CounterSet{newLazy(gate, labels, closedSet(m.Metric), v.counterOf(m.Name))}
	for _, value := range m.AtZero {
		s.Add(value, 0)
	}
	return s
}

// ObserverSet returns the histograms or summaries for the closed set of values of the metric's last label.
func (v *Vectors) ObserverSet(gate *Gate, d catalog.Definition, labels ...string) *ObserverSet {
	m := d.Define()
	return &ObserverSet{newLazy(gate, labels, closedSet(m), v.observerOf(m.Name))}
}

// LazyCounter returns a counter that is created by its first increase.
func (v *Vectors) LazyCounter(gate *Gate, m catalog.Counter, labels ...string) *LazyCounter {
	return &LazyCounter{CounterSet{newLazy(gate, labels, nil, v.counterOf(m.Name))}}
}

// LazySummary returns a summary that is created by its first observation.
func (v *Vectors) LazySummary(gate *Gate, m catalog.Summary, labels ...string) *LazyObserver {
	return &LazyObserver{ObserverSet{newLazy(gate, labels, nil, v.observerOf(m.Name))}}
}

// counterOf returns the function that creates series of a counter. An informer has about twenty such functions: they keep only
// the name of the metric, which takes a tenth of the memory of its definition.
func (v *Vectors) counterOf(name string) func(labels ...string) prometheus.Counter {
	return func(labels ...string) prometheus.Counter { return v.counter(name, labels) }
}

// observerOf returns the function that creates series of a histogram or summary.
func (v *Vectors) observerOf(name string) func(labels ...string) prometheus.Observer {
	return func(labels ...string) prometheus.Observer { return v.observer(name, labels) }
}

func closedSet(m catalog.Metric) []string { return m.Labels[len(m.Labels)-1].Values }
