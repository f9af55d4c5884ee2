package metricstest

import dto "github.com/prometheus/client_model/go"

// Series returns the number of series that Prometheus stores for the families: a classic histogram has one for each bucket and
// for +Inf, and its count and sum. Histograms without classic buckets are stored as one native histogram.
func Series(families []*dto.MetricFamily) (n int) {
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n += SeriesOf(m)
		}
	}
	return n
}

// SeriesOf returns the number of series that Prometheus stores for one metric.
func SeriesOf(m *dto.Metric) int {
	switch {
	case m.Histogram != nil && m.GetHistogram().Schema != nil && len(m.GetHistogram().GetBucket()) == 0:
		return 1
	case m.Histogram != nil:
		return len(m.GetHistogram().GetBucket()) + 3
	case m.Summary != nil:
		return 2 + len(m.GetSummary().GetQuantile())
	default:
		return 1
	}
}
