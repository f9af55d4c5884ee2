package checks

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerFreshnessChecks.Metric, "result", FreshnessFresh, FreshnessLagging, FreshnessError, FreshnessSkipped)
	observertest.Values(t, catalog.InformerAudits.Metric, "result", AuditConsistent, AuditDifferent, AuditSkipped, AuditError)
}
