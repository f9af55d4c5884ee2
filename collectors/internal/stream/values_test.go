package stream

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerSyncDuration.Metric, "result", resultSuccess, resultError)
	observertest.Values(t, catalog.InformerRelists.Metric, "reason", relistInitial, relistExpired, relistWatchFailed, relistDecode, relistFallback, relistResyncRequested)
	observertest.Values(t, catalog.InformerWatchEvents.Metric, "type", EventAdded, EventModified, EventDeleted, EventBookmark, EventError)
}
