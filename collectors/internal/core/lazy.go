package core

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// lazy holds series of one metric that are created by their first use, because most values of a label never occur. All methods are
// safe for concurrent use.
type lazy[S any] struct {
	scope  *Scope
	metric string
	// values are those of the label after the scope's, nil for a single series.
	values []string
	create func(metric string, labels []string) S
	series []atomic.Pointer[S]
}

func newLazy[S any](scope *Scope, metric string, values []string, create func(metric string, labels []string) S) lazy[S] {
	return lazy[S]{scope: scope, metric: metric, values: values, create: create, series: make([]atomic.Pointer[S], max(1, len(values)))}
}

// of returns the series of a value, nil for values outside the closed set and after the end of the scope.
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
	l.scope.mu.Lock()
	defer l.scope.mu.Unlock()
	if s := l.series[at].Load(); s != nil || l.scope.ended {
		return s
	}
	var more []string
	if l.values != nil {
		more = l.values[at : at+1]
	}
	s := own(l.scope, l.metric, more, l.create)
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

// LazyCounter is a counter that exists once it has increased.
type LazyCounter struct{ set CounterSet }

// Add increases the counter. Adding 0 creates it.
func (c *LazyCounter) Add(n float64) { c.set.Add("", n) }

// LazyObserver is a summary that exists once it has an observation.
type LazyObserver struct{ set ObserverSet }

// Observe adds an observation.
func (o *LazyObserver) Observe(x float64) { o.set.Observe("", x) }

// CounterSet returns counters for the closed set of values of the metric's last label.
func (s *Scope) CounterSet(m catalog.Counter) *CounterSet {
	set := &CounterSet{newLazy(s, m.Name, closedSet(m.Metric), s.vectors.counter)}
	for _, value := range m.AtZero {
		set.Add(value, 0)
	}
	return set
}

// ObserverSet returns histograms or summaries for the closed set of values of the metric's last label.
func (s *Scope) ObserverSet(d catalog.Definition) *ObserverSet {
	m := d.Define()
	return &ObserverSet{newLazy(s, m.Name, closedSet(m), s.vectors.observer)}
}

// LazyCounter returns a counter that is created by its first increase.
func (s *Scope) LazyCounter(m catalog.Counter) *LazyCounter {
	return &LazyCounter{CounterSet{newLazy(s, m.Name, nil, s.vectors.counter)}}
}

// LazySummary returns a summary that is created by its first observation.
func (s *Scope) LazySummary(m catalog.Summary) *LazyObserver {
	return &LazyObserver{ObserverSet{newLazy(s, m.Name, nil, s.vectors.observer)}}
}

func closedSet(m catalog.Metric) []string { return m.Labels[len(m.Labels)-1].Values }
