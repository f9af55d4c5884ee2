package controllers_test

import (
	"errors"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var errTest = errors.New("test")

func check(t *testing.T, s, want metricstest.Snapshot) {
	t.Helper()
	s.Contains(t, want)
}
