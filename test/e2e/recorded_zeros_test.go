package e2e_test

import (
	"math"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// TestRecordingsBeginAsPrograms verifies that no recorded series begins at 0 if programs create it only with its first
// increase. Otherwise, an alert on a recording could fire because of an increase that Prometheus does not see in production.
// Make such a recording again with `make record` or `make record-healthy`.
func TestRecordingsBeginAsPrograms(t *testing.T) {
	all := map[string]recording.Recording{}
	for _, row := range faultTable(t) {
		all[row.test] = recorded(t, row.test)
	}
	all["healthy"] = healthyRecording(t)
	for name, r := range all {
		seen := map[string]bool{}
		for _, s := range r.Series {
			metric := s.Labels.Get(model.MetricNameLabel)
			if !seen[metric] && metricstest.NeverAtZero(metric, s.Labels.Get) && beginsAtZero(s.Values) {
				seen[metric] = true
				t.Errorf("%s: %s begins at 0", name, s.Labels)
			}
		}
	}
}

// beginsAtZero reports whether the first value is 0.
func beginsAtZero(values []float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) { // Missing and Stale are NaN
			return v == 0
		}
	}
	return false
}
