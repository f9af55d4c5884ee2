package objects

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.LeaseObjects.Metric, "purpose", purposeLeader, purposeNode, purposeAPIServer)
	observertest.Values(t, catalog.LeaseObjects.Metric, "state", stateHeld, stateExpired)
	observertest.Values(t, catalog.ObjectOverflow.Metric, "signal", signalLeases, signalTerminating, signalGenerationLag)
}
