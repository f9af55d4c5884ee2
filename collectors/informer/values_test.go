package informer

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerEventsLost.Metric, lostOverrun, lostTransform, lostStop)
	observertest.Values(t, catalog.InformerUnchangedUpdates.Metric, unchangedResync, unchangedRelist)
	observertest.Values(t, catalog.InformerResourceVersion.Metric, stageReceived, stageStored, stageHandled)
	observertest.Values(t, catalog.InformerTransformDrops.Metric, dropError, dropNil)
}
