package audit

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerAuditDifferences.Metric, "difference", DifferenceMissing, DifferenceExtra, DifferenceStale, DifferenceWrongUID, DifferenceIndex, DifferenceKeyCollision)
}
