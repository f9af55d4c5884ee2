package leader

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.ControllerLeaderTransitions.Metric, "event", leaderAcquired, leaderLost, leaderReleased)
	observertest.Values(t, catalog.ControllerLeaderRenewDuration.Metric, "result", renewSuccess, renewConflict, renewError)
}
