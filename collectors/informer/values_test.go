package informer

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerEventsLost.Metric, "reason", lostOverrun, lostTransform, lostStop)
	observertest.Values(t, catalog.InformerUnchangedUpdates.Metric, "cause", unchangedResync, unchangedRelist)
	observertest.Values(t, catalog.InformerResourceVersion.Metric, "stage", stageReceived, stageStored, stageHandled)
	observertest.Values(t, catalog.InformerTransformDrops.Metric, "cause", dropError, dropNil)
}
