package audit

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

func TestValuesAreThoseOfTheCatalog(t *testing.T) {
	observertest.Values(t, catalog.InformerAuditDifferences.Metric, "difference", DifferenceMissing, DifferenceExtra, DifferenceStale, DifferenceWrongUID, DifferenceIndex, DifferenceKeyCollision)
}

// A person reads these in the log.
func TestDifferenceInTheLog(t *testing.T) {
	for want, d := range map[string]Difference{
		"missing shop/web":       {Type: DifferenceMissing, Namespace: "shop", Name: "web"},
		"extra node-1":           {Type: DifferenceExtra, Name: "node-1"},
		"index by-node=node-1":   {Type: DifferenceIndex, Index: "by-node", Value: "node-1"},
		"index by-node shop/web": {Type: DifferenceIndex, Namespace: "shop", Name: "web", Index: "by-node"},
	} {
		if got := d.String(); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}
