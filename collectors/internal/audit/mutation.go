package audit

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// rounds is the number of rounds in which a sample is checked, unless its object is replaced earlier.
const rounds = 10

// Sampler detects consumers that change cached objects, which all consumers share. It remembers fingerprints of a few random
// objects and checks them again later: if the store still holds an object and its fingerprint differs, it was changed in
// place. A Sampler neither copies nor changes objects.
//
// It reads objects without a lock, as every consumer does. If a consumer changes an object, that is a data race, which the
// race detector reports. If a map is written during the read, the process crashes, as it would with any other reader, such as
// DeepCopy.
type Sampler struct {
	// PerRound is the number of objects that each round adds. The objects of the last 10 rounds are remembered and kept in memory.
	PerRound int

	seed    maphash.Seed
	samples []sample // the oldest first
}

// sample is a cached object and its fingerprint.
type sample struct {
	object  any
	key     string
	version string
	print   uint64
}

// Mutation is an object that was changed in place.
type Mutation struct {
	// Key is the namespace and name of the object, Version its resourceVersion.
	Key, Version string
}

// Round returns the remembered objects that were changed, and remembers more objects. It takes about 20 µs for each
// remembered object of the size of a Pod, and 5 ms per 100,000 objects in the store.
func (s *Sampler) Round(store cache.Store) []Mutation {
	if s.samples == nil {
		s.seed = maphash.MakeSeed()
	}
	objects := store.List()
	mutated := s.recheck(objects)
	for range min(s.PerRound, len(objects)) {
		if fresh, ok := s.take(objects[rand.IntN(len(objects))]); ok && !s.has(fresh.object) {
			s.samples = append(s.samples, fresh)
		}
	}
	if excess := len(s.samples) - rounds*s.PerRound; excess > 0 {
		s.samples = append([]sample(nil), s.samples[excess:]...)
	}
	return mutated
}

// recheck compares the remembered objects with their fingerprints and removes those that the store no longer holds.
func (s *Sampler) recheck(objects []any) []Mutation {
	held := make(map[any]bool, len(s.samples))
	for _, known := range s.samples {
		held[known.object] = false
	}
	for _, object := range objects {
		if !isPointer(object) {
			continue
		}
		if _, known := held[object]; known {
			held[object] = true
		}
	}
	var mutated []Mutation
	kept := make([]sample, 0, len(s.samples))
	for _, known := range s.samples {
		now, ok := s.take(known.object)
		if !ok || !held[known.object] {
			continue // replaced or deleted
		}
		// A resourceVersion that was changed in place is a mutation too.
		if now.print != known.print {
			mutated = append(mutated, Mutation{known.key, known.version})
		}
		kept = append(kept, now)
	}
	s.samples = kept
	return mutated
}

func (s *Sampler) has(object any) bool {
	return slices.ContainsFunc(s.samples, func(known sample) bool { return known.object == object })
}

// take returns a sample of an object. Only pointers to values that can be encoded as JSON have one.
func (s *Sampler) take(object any) (sample, bool) {
	if !isPointer(object) {
		return sample{}, false
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return sample{}, false
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	// Equal objects have equal JSON: it sorts maps and does not contain the string that a Quantity caches.
	if err := json.NewEncoder(&h).Encode(object); err != nil {
		return sample{}, false
	}
	key := fmt.Sprintf("%s/%s", accessor.GetNamespace(), accessor.GetName())
	return sample{object, key, accessor.GetResourceVersion(), h.Sum64()}, true
}

// isPointer reports whether an object can be recognized by its address, as all objects of informers can.
func isPointer(object any) bool { return reflect.ValueOf(object).Kind() == reflect.Pointer }
