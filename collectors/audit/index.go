package audit

import (
	"hash/maphash"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// bucket sums up the objects under one value of an index: how many, and a sum that does not depend on their order.
type bucket struct {
	count int
	sum   uint64
}

func (b *bucket) add(object any, seed maphash.Seed) {
	b.count++
	b.sum += maphash.Comparable(seed, object)
}

// Indexes recomputes every indexed value of every object in the store, with the store's own index functions, and compares
// them with what the indexes hold. A difference counts the objects that are under a value and should not be, or should
// be and are not.
//
// It calls the index functions from its own goroutine, beside client-go: they must be as pure as client-go asks for. It
// takes about 100 ms of CPU time per 100,000 objects and index, and memory for the indexed values. It fails with
// ErrNoVersion, or with ErrChanging if the store changed each time that it was read.
func Indexes(store cache.Indexer) (*Differences, error) {
	for range attempts {
		version := store.LastStoreSyncResourceVersion()
		if version == "" {
			return nil, ErrNoVersion
		}
		found := verify(store)
		if store.LastStoreSyncResourceVersion() == version {
			return found, nil
		}
	}
	return nil, ErrChanging
}

func verify(store cache.Indexer) *Differences {
	found := NewDifferences()
	items := store.List()
	seed := maphash.MakeSeed()
	for index, function := range store.GetIndexers() {
		want := map[string]*bucket{}
		for _, item := range items {
			for _, value := range distinct(function, item) {
				b := want[value]
				if b == nil {
					b = &bucket{}
					want[value] = b
				}
				b.add(item, seed)
			}
		}
		suspects := map[string]map[any]int{}
		for _, value := range store.ListIndexFuncValues(index) {
			if want[value] == nil {
				want[value] = &bucket{} // an indexed value that no object has
			}
		}
		for value, expected := range want {
			held, err := store.ByIndex(index, value)
			if err != nil {
				continue // the index was removed; indexes cannot be
			}
			var got bucket
			for _, item := range held {
				got.add(item, seed)
			}
			if got == *expected {
				continue
			}
			suspects[value] = map[any]int{}
			for _, item := range held {
				suspects[value][item]++
			}
		}
		if len(suspects) == 0 {
			continue
		}
		for _, item := range items {
			for _, value := range distinct(function, item) {
				if set := suspects[value]; set != nil {
					set[item]--
				}
			}
		}
		for value, set := range suspects {
			n := 0
			for _, count := range set {
				n += max(count, -count)
			}
			found.AddN(Difference{Kind: catalog.DifferenceIndex, Index: index, Value: value}, n)
		}
	}
	return found
}

// distinct returns the values of an item once each: a set is what client-go makes of them.
func distinct(function cache.IndexFunc, item any) []string {
	values, err := function(item)
	if err != nil || len(values) < 2 {
		return values
	}
	seen := make(map[string]struct{}, len(values))
	unique := values[:0:0]
	for _, value := range values {
		if _, ok := seen[value]; !ok {
			seen[value] = struct{}{}
			unique = append(unique, value)
		}
	}
	return unique
}
