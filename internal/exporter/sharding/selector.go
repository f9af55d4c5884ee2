package sharding

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/watch"
)

// With the feature gate ShardedListAndWatch (KEP-5866), the API server filters lists and watches by ListOptions.ShardSelector,
// a range of hashes of UIDs. API servers without it ignore the option and send everything, perhaps only one of several behind a
// load balancer. The client therefore filters again: the transfer is wasted, but no object is in two caches.

const (
	hashedField = "object.metadata.uid"
	endOfHashes = "0x10000000000000000"
)

// Selector selects the objects whose hashes are in the shard's range.
func (s Shard) Selector() sharding.Selector {
	if !s.Partial() {
		return sharding.Everything()
	}
	bound := func(shard int) string {
		if shard == s.Total {
			return endOfHashes
		}
		hash, _ := bits.Div64(uint64(shard), 0, uint64(s.Total))
		return hexadecimal(hash)
	}
	return sharding.NewSelector(hashes(bound(s.Ordinal), bound(s.Ordinal+1)))
}

// AllBut selects every object except one and those with the same hash.
func AllBut(o metav1.Object) (sharding.Selector, error) {
	hash, err := strconv.ParseUint(sharding.HashField(string(o.GetUID())), 16, 64)
	if err != nil {
		return nil, err
	}
	var ranges []sharding.ShardRangeRequirement
	if hash > 0 {
		ranges = append(ranges, hashes(hexadecimal(0), hexadecimal(hash)))
	}
	if hash < math.MaxUint64 {
		ranges = append(ranges, hashes(hexadecimal(hash+1), endOfHashes))
	}
	return sharding.NewSelector(ranges...), nil
}

func hashes(start, end string) sharding.ShardRangeRequirement {
	return sharding.ShardRangeRequirement{Key: hashedField, Start: start, End: end}
}

func hexadecimal(hash uint64) string { return fmt.Sprintf("0x%016x", hash) }

// FilterList removes the items that a selector does not select. It calls unselected if there are any.
func FilterList(part sharding.Selector, list runtime.Object, unasked func()) error {
	if part.Empty() {
		return nil
	}
	var selected []runtime.Object
	complete := true
	err := meta.EachListItem(list, func(o runtime.Object) error {
		yes, err := part.Matches(o)
		if yes {
			selected = append(selected, o)
		}
		complete = complete && yes
		return err
	})
	if err != nil || complete {
		return err
	}
	unasked()
	return meta.SetList(list, selected)
}

// FilterWatch returns a watch without the events of objects that a selector does not select. It calls unselected at the first
// of them.
func FilterWatch(part sharding.Selector, inner watch.Interface, unasked func()) watch.Interface {
	if part.Empty() {
		return inner
	}
	w := &filteredWatch{inner: inner, result: make(chan watch.Event), stopped: make(chan struct{}), unasked: sync.OnceFunc(unasked)}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	go w.run(part)
	return w
}

// filteredWatch is a watch.Filter that also ends while it has an event that is not read.
type filteredWatch struct {
	inner   watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	stop    func()
	unasked func()
}

// ResultChan implements watch.Interface.
func (w *filteredWatch) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface.
func (w *filteredWatch) Stop() {
	w.stop()
	w.inner.Stop()
}

func (w *filteredWatch) run(part sharding.Selector) {
	defer close(w.result)
	for {
		select {
		case <-w.stopped:
			return
		case event, ok := <-w.inner.ResultChan():
			if !ok {
				return
			}
			if isObjectEvent(event) {
				if yes, err := part.Matches(event.Object); err == nil && !yes {
					w.unasked()
					continue
				}
			}
			select {
			case w.result <- event:
			case <-w.stopped:
				return
			}
		}
	}
}

// isObjectEvent reports whether an event carries an object of the watch.
func isObjectEvent(e watch.Event) bool {
	return e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted
}
