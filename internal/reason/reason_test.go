package reason

import (
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func TestReasonsAreThoseOfTheCatalog(t *testing.T) {
	if want := catalog.InformerRelists.Values("reason"); !slices.Equal(Relists(), want) {
		t.Errorf("relists %v, catalog %v", Relists(), want)
	}
	if want := catalog.InformerWatchDisconnects.Values("reason"); !slices.Equal(Disconnects(), want) {
		t.Errorf("disconnects %v, catalog %v", Disconnects(), want)
	}
}
