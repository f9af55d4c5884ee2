package core

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Histograms is a valid collectors.Histograms. That type has no methods for it: exported methods would show a type that users cannot
// import.
type Histograms string

// Native histograms have 8 buckets for each power of two, at a factor of 2^(1/8) = 1.09. Only buckets with observations exist.
// 160 of them cover almost 20 powers of two: 100 µs to 60 s takes 154. Beyond that, client_golang starts again from 0, at most
// once an hour, and halves the resolution in between. Prometheus counts this as a restart of the process, which loses the
// observations since the last scrape, so the limit must be out of reach in normal operation. controller-runtime and the
// components of Kubernetes use the same factor. Kubernetes limits the buckets to the same number, and controller-runtime resets
// at most once an hour as well.
const (
	nativeFactor     = 1.1
	nativeMaxBuckets = 160
	nativeMinReset   = time.Hour
)

// NewHistogram returns a histogram of this form. All histograms of the library are created here.
func (h Histograms) NewHistogram(m catalog.Metric, labels []string, constant prometheus.Labels) *prometheus.HistogramVec {
	options := prometheus.HistogramOpts{Name: m.Name, Help: m.Help, ConstLabels: constant, Buckets: m.Buckets}
	if h == "native" || h == "both" {
		options.NativeHistogramBucketFactor = nativeFactor
		options.NativeHistogramMaxBucketNumber = nativeMaxBuckets
		options.NativeHistogramMinResetDuration = nativeMinReset
	}
	if h == "native" {
		options.Buckets = nil
	}
	return prometheus.NewHistogramVec(options, labels)
}

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
