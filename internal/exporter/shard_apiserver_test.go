package exporter

import (
	"fmt"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Each resource is watched by exactly one shard. All shards notice a new definition, although only one of them reports
// definitions, and one watches the new resource.
func TestEveryKindHasOneShard(t *testing.T) {
	admin := stacktest.Config(t)
	const total = 3
	f := newFleet(t, total, admin, config.Config{})
	f.waitReady(t)
	watchedOnce := func(kind string) {
		t.Helper()
		await.True(t, kind+" in one shard", func() bool {
			watchers := f.watchers(kind)
			return len(watchers) == 1 && len(watchers[sharding.Owner(kind, "", total)]) == 1
		}, func() string { return fmt.Sprint(f.watchers(kind)) })
	}
	for _, kind := range kinds.Default() {
		watchedOnce(kind.Type())
	}
	// One group per shard, so that every shard also sees definitions of others.
	var groups []string
	owners := map[int]bool{}
	for i := 0; len(owners) < total; i++ {
		group := fmt.Sprintf("shards%d.example.com", i)
		if owner := sharding.Owner("widgets."+group, "", total); !owners[owner] {
			owners[owner] = true
			groups = append(groups, group)
		}
	}
	w := newDefiner(t, admin, groups...)
	for _, group := range groups {
		w.define(t, group, "v1alpha1")
	}
	for _, group := range groups {
		watchedOnce("widgets." + group)
		w.define(t, group, "v1", "-v1alpha1") // the shard stays the same
	}
	for _, group := range groups {
		kind := "widgets." + group
		await.True(t, kind+" in version v1", func() bool {
			return informers.Kinds(f.exporters[sharding.Owner(kind, "", total)].informers.List())[kind].Version == "v1"
		})
		watchedOnce(kind)
	}
	w.undefine(t, groups...)
	for _, group := range groups {
		await.True(t, "no watches of "+group, func() bool { return len(f.watchers("widgets."+group)) == 0 })
	}
}
