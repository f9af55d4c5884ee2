package controllers

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.ControllerReconcile.Metric, "result", reconcileSuccess, reconcileError, reconcileRequeue, reconcileRequeueAfter, reconcileTerminal, reconcilePanic)
	observertest.Values(t, catalog.ControllerShutdownDuration.Metric, "result", shutdownSuccess, shutdownTimeout, shutdownError, shutdownPanic)
	observertest.Values(t, catalog.ControllerFinalizerAttempts.Metric, "result", cleanupSuccess, cleanupError, cleanupTimeout, cleanupPanic)
}
