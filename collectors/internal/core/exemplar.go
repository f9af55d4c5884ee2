package core

import "github.com/prometheus/client_golang/prometheus"

// Observe adds an observation, with the trace ID as its exemplar unless it is empty or the metric is a summary.
func Observe(o prometheus.Observer, value float64, traceID string) {
	if traceID != "" {
		if o, ok := o.(prometheus.ExemplarObserver); ok {
			o.ObserveWithExemplar(value, prometheus.Labels{"trace_id": traceID})
			return
		}
	}
	o.Observe(value)
}
