package sharding

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// With the feature gate ShardedListAndWatch (KEP-5866), the API server filters lists and watches by
// ListOptions.ShardSelector, a range of hashes of UIDs. API servers without it ignore the option and send everything. Behind a
// load balancer, only some API servers may have it. The client therefore filters as well: the excess traffic is wasted, but
// no object is in two caches.

const (
	hashedField = "object.metadata.uid"
	endOfHashes = "0x10000000000000000"
)

// Selector selects objects by the hash of their UID. The zero value selects all objects. It is the selector of apimachinery's
// package sharding, which versions before v0.36 lack.
type Selector struct {
	ranges []hashes
}

// hashes is an inclusive range of hashes.
type hashes struct{ first, last uint64 }

// Selector returns a selector of the objects with hashes in the shard's range.
func (s Shard) Selector() Selector {
	if !s.Partial() {
		return Selector{}
	}
	start := func(shard int) uint64 {
		hash, _ := bits.Div64(uint64(shard), 0, uint64(s.Total))
		return hash
	}
	last := uint64(math.MaxUint64)
	if s.Ordinal+1 < s.Total {
		last = start(s.Ordinal+1) - 1
	}
	return Selector{[]hashes{{start(s.Ordinal), last}}}
}

// AllBut returns a selector of all objects except o and those with the same hash.
func AllBut(o metav1.Object) Selector {
	hash := hashOf(o)
	var s Selector
	if hash > 0 {
		s.ranges = append(s.ranges, hashes{0, hash - 1})
	}
	if hash < math.MaxUint64 {
		s.ranges = append(s.ranges, hashes{hash + 1, math.MaxUint64})
	}
	return s
}

// hashOf returns the hash that the API server computes for an object.
func hashOf(o metav1.Object) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.GetUID())) // never fails
	return h.Sum64()
}

// Empty reports whether all objects are selected.
func (s Selector) Empty() bool { return len(s.ranges) == 0 }

// Matches reports whether an object is selected. It returns an error if the object has no metadata.
func (s Selector) Matches(o runtime.Object) (bool, error) {
	if s.Empty() {
		return true, nil
	}
	accessor, err := meta.Accessor(o)
	if err != nil {
		return false, err
	}
	hash := hashOf(accessor)
	return slices.ContainsFunc(s.ranges, func(h hashes) bool { return h.first <= hash && hash <= h.last }), nil
}

// String returns the value of ListOptions.ShardSelector.
func (s Selector) String() string {
	ranges := make([]string, 0, len(s.ranges))
	for _, h := range s.ranges {
		end := endOfHashes
		if h.last < math.MaxUint64 {
			end = hexadecimal(h.last + 1)
		}
		ranges = append(ranges, fmt.Sprintf("shardRange(%s, '%s', '%s')", hashedField, hexadecimal(h.first), end))
	}
	return strings.Join(ranges, " || ")
}

func hexadecimal(hash uint64) string { return fmt.Sprintf("0x%016x", hash) }

// Select sets options.ShardSelector, so that the API server sends only the selected objects. With apimachinery before v0.36, it has
// no effect, because the options lack the field.
func (s Selector) Select(options *metav1.ListOptions) {
	o := listOptions{ListOptions: *options}
	o.ShardSelector = s.String()
	*options = o.ListOptions
}

// listOptions has a field ShardSelector: that of metav1.ListOptions or, if it is missing there, a fallback that is embedded one
// level deeper.
type listOptions struct {
	metav1.ListOptions
	olderOptions
}

type olderOptions struct{ absentOptions }

type absentOptions struct{ ShardSelector string }

// FilterList removes the items that a selector does not select. It calls unselected if there are any.
func FilterList(part Selector, list runtime.Object, unselected func()) error {
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
	unselected()
	return meta.SetList(list, selected)
}

// FilterWatch returns a watch without the events of objects that a selector does not select. It calls unselected at the first
// of them.
func FilterWatch(part Selector, inner watch.Interface, unselected func()) watch.Interface {
	if part.Empty() {
		return inner
	}
	results := make(chan watch.Event)
	w := filteredWatch{watch.NewProxyWatcher(results), inner}
	go w.run(part, results, sync.OnceFunc(unselected))
	return w
}

// filteredWatch is like watch.Filter, but Stop ends it even while an event waits to be read.
type filteredWatch struct {
	*watch.ProxyWatcher
	inner watch.Interface
}

// Stop implements watch.Interface.
func (w filteredWatch) Stop() {
	w.ProxyWatcher.Stop()
	w.inner.Stop()
}

func (w filteredWatch) run(part Selector, results chan<- watch.Event, unselected func()) {
	defer close(results)
	for {
		select {
		case <-w.StopChan():
			return
		case event, ok := <-w.inner.ResultChan():
			if !ok {
				return
			}
			if event.Type != watch.Bookmark && event.Type != watch.Error { // their objects are not those of the watch
				if yes, err := part.Matches(event.Object); err == nil && !yes {
					unselected()
					continue
				}
			}
			select {
			case results <- event:
			case <-w.StopChan():
				return
			}
		}
	}
}
