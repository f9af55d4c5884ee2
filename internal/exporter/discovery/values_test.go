package discovery

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.ExporterDiscoveries.Metric, "result", complete, partial, failed)
}
