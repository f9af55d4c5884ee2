package collectors_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestDefaultLimits: zero fields of Limits select the defaults.
func TestDefaultLimits(t *testing.T) {
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Limits.Handlers = 7 })
	labels := &core.Of(obs).Labels
	for name, limit := range map[string][2]int{
		"informer types": {labels.InformerTypes.Limit, 1000},
		"namespaces":     {labels.WatchNamespaces.Limit, 2000},
		"handlers":       {labels.Handlers.Limit, 7},
		"indexes":        {labels.Indexes.Limit, 200},
		"controllers":    {labels.Controllers.Limit, 200},
		"finalizers":     {labels.Finalizers.Limit, 200},
		"locks":          {labels.Locks.Limit, 50},
		"resources":      {labels.Resources.Limit, 1000},
	} {
		if limit[0] != limit[1] {
			t.Errorf("%d %s, want %d", limit[0], name, limit[1])
		}
	}
}
