package errclass

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerSyncErrors.Metric, "error_type", ErrorExpired, ErrorThrottled, ErrorForbidden, ErrorUnauthorized, ErrorTimeout, ErrorRefused, ErrorServer, ErrorDecode, ErrorNotFound, ErrorOther)
}
