package core

import "github.com/prometheus/client_golang/prometheus"

// Discard is a counter, a histogram and a summary that no scrape shows.
var Discard = discard{prometheus.NewCounter(prometheus.CounterOpts{})}

var discardedGauge = prometheus.NewGauge(prometheus.GaugeOpts{})

type discard struct{ prometheus.Counter }

// Inc implements prometheus.Counter.
func (discard) Inc() {}

// Add implements prometheus.Counter.
func (discard) Add(float64) {}

// Observe implements prometheus.Observer.
func (discard) Observe(float64) {}

// ObserveWithExemplar implements prometheus.ExemplarObserver.
func (discard) ObserveWithExemplar(float64, prometheus.Labels) {}
