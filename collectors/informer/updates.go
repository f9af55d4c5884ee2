package informer

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Values of the label cause of k8s_informer_unchanged_updates_total.
const (
	// updateResync is a resync: the object comes from the cache again.
	updateResync = "resync"
	// updateRelist is an object that a relist found at the same resourceVersion. client-go passes it to every handler of an informer
	// without a resync period.
	updateRelist = "relist"
)

// updates counts the updates that informers with the same labels deliver to handlers and most of them ignore. It is safe for concurrent use.
type updates struct {
	unchanged *core.CounterSet
	// sameGeneration is created by the first such update.
	sameGeneration *core.LazyCounter
}

func newUpdates(scope *core.Scope) *updates {
	return &updates{
		unchanged:      scope.CounterSet(catalog.InformerUnchangedUpdates),
		sameGeneration: scope.LazyCounter(catalog.InformerSameGenerationUpdates),
	}
}

// unchangedVersion counts an update of an object with an unchanged resourceVersion, and reports whether it is from a resync. A resync
// passes the object in the store as both the old and the new one (k8s.io/client-go/tools/cache, processDeltas); a relist passes a
// new copy. Copies without a version cannot be compared and are not counted.
func (c *updates) unchangedVersion(oldObj, newObj any, version string) (resync bool) {
	switch {
	case reflect.ValueOf(newObj).Kind() == reflect.Pointer && oldObj == newObj:
		c.unchanged.Inc(updateResync)
		return true
	case version != "":
		c.unchanged.Inc(updateRelist)
	}
	return false
}

// changedVersion counts an update of an object with a changed resourceVersion and an unchanged generation. Objects without a generation,
// such as ConfigMaps, are not counted. It does not allocate.
func (c *updates) changedVersion(oldObj, newObj any) {
	before, err := meta.Accessor(oldObj)
	if err != nil || before.GetGeneration() == 0 {
		return
	}
	if after, err := meta.Accessor(newObj); err == nil && after.GetGeneration() == before.GetGeneration() {
		c.sameGeneration.Add(1)
	}
}
