package informer

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerEventsLost.Metric, "reason", functions.LostTransform, lostStop, functions.LostList, functions.LostIndex)
	observertest.Values(t, catalog.InformerUnchangedUpdates.Metric, "cause", updateResync, updateRelist)
	observertest.Values(t, catalog.InformerResourceVersion.Metric, "stage", stageReceived, stageStored, stageHandled)
	observertest.Values(t, catalog.InformerTransformDrops.Metric, "cause", functions.DropError, functions.DropNil)
}
