package core

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Scope owns the series of an informer, a handler, a queue or a controller, which share their first labels, and deletes them when it
// ends. A series that is created later has no effect: a successor may have one with the same labels by then. All methods are safe for
// concurrent use.
type Scope struct {
	vectors *Vectors
	labels  []string

	mu     sync.Mutex
	ended  bool
	series []ownedSeries
}

// ownedSeries is a series of a Scope. Its labels are those of the Scope and more, which is shared with the catalog where it can be: a
// Scope has up to forty series.
type ownedSeries struct {
	metric string
	more   []string
}

// Scope returns a Scope without series. The labels are the values of the first labels of all its metrics, without name.
func (v *Vectors) Scope(labels ...string) *Scope { return &Scope{vectors: v, labels: labels} }

// Labels returns the labels that all series share. They must not be changed.
func (s *Scope) Labels() []string { return s.labels }

// Sub returns a Scope with more labels, which has ended if s has. It must be ended separately.
func (s *Scope) Sub(more ...string) *Scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Scope{vectors: s.vectors, labels: s.with(more), ended: s.ended}
}

// End deletes all series.
func (s *Scope) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, o := range s.series {
		s.vectors.delete(o.metric, s.with(o.more))
	}
	s.series = nil
}

// Counter creates a counter at 0.
func (s *Scope) Counter(m catalog.Counter, more ...string) prometheus.Counter {
	return create[prometheus.Counter](s, m.Name, more, s.vectors.counter, Discard)
}

// Gauge creates a gauge of client-go's own metrics at 0. All other gauges are computed at scrape time.
func (s *Scope) Gauge(m catalog.Gauge, more ...string) prometheus.Gauge {
	return create(s, m.Name, more, s.vectors.gauge, discardedGauge)
}

// Histogram creates a histogram without observations.
func (s *Scope) Histogram(m catalog.Histogram, more ...string) prometheus.Observer {
	return create[prometheus.Observer](s, m.Name, more, s.vectors.observer, Discard)
}

// Summary creates a summary without observations.
func (s *Scope) Summary(m catalog.Summary, more ...string) prometheus.Observer {
	return create[prometheus.Observer](s, m.Name, more, s.vectors.observer, Discard)
}

// SendGauge sends a gauge that is computed at scrape time, unless it is omitted.
func (s *Scope) SendGauge(ch chan<- prometheus.Metric, m catalog.Gauge, value float64, more ...string) {
	s.vectors.SendGauge(ch, m, value, s.with(more)...)
}

// SendCounter sends a counter that is computed at scrape time, unless it is omitted.
func (s *Scope) SendCounter(ch chan<- prometheus.Metric, m catalog.Counter, value float64, more ...string) {
	s.vectors.SendCounter(ch, m, value, s.with(more)...)
}

func (s *Scope) with(more []string) []string { return slices.Concat(s.labels, more) }

func create[S any](s *Scope, metric string, more []string, series func(metric string, labels []string) S, ended S) S {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return ended
	}
	return own(s, metric, more, series)
}

// own is called with the lock held.
func own[S any](s *Scope, metric string, more []string, series func(metric string, labels []string) S) S {
	s.series = append(s.series, ownedSeries{metric, more})
	return series(metric, s.with(more))
}
