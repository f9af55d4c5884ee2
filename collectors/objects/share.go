package objects

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// firstNamespaces get series before all others. Tenants normally cannot create objects there.
var firstNamespaces = []string{metav1.NamespaceSystem, clusterScope}

// share chooses which items have series of their own, at most limit of them. Beyond that, namespaces share the limit equally, so that
// one namespace cannot displace the items of others. First namespaces get series before all others. Waiting items are chosen when
// others are removed. add and remove take time logarithmic in the number of namespaces. It is not safe for concurrent use.
type share[K comparable] struct {
	limit int
	first []string

	n, waits int                   // chosen and waiting items
	tenants  map[string]*tenant[K] // the namespaces with items
	places   map[K]int             // index of each item in chosen or waiting of its tenant
	chosen   tenants[K]            // those with chosen items; the next one to make room is first
	waiting  tenants[K]            // those with waiting items; the next one to get room is first
}

// tenant is a namespace with items.
type tenant[K comparable] struct {
	namespace       string
	first           bool
	chosen, waiting []K // in no particular order
	gives, getsRoom ranked[*tenant[K], turn]
}

// tenants are namespaces in the order of their turns.
type tenants[K comparable] = ranking[*tenant[K], turn]

type turn int

// Before orders turns.
func (t turn) Before(other turn) bool { return t < other }

func newShare[K comparable](limit int, first []string) share[K] {
	return share[K]{limit: limit, first: slices.Concat(firstNamespaces, first), tenants: map[string]*tenant[K]{}, places: map[K]int{}}
}

// add adds an item and reports whether it is chosen. If it takes the place of another one, that one waits and is returned.
func (s *share[K]) add(namespace string, item K) (chosen bool, displaced []K) {
	t := s.tenant(namespace)
	defer s.rank(t)
	if s.n >= s.limit {
		from := s.chosen.first()
		if from == nil || !t.precedes(from.value) {
			s.put(&t.waiting, item)
			s.waits++
			return false, nil
		}
		last := from.value.chosen[len(from.value.chosen)-1]
		s.take(&from.value.chosen, last)
		s.put(&from.value.waiting, last)
		s.n--
		s.waits++
		s.rank(from.value)
		displaced = []K{last}
	}
	s.put(&t.chosen, item)
	s.n++
	return true, displaced
}

// remove removes an item, and returns the one that takes its place.
func (s *share[K]) remove(namespace string, item K) (promoted []K) {
	t := s.tenants[namespace]
	switch {
	case t == nil:
		return nil
	case s.take(&t.waiting, item):
		s.waits--
		s.rank(t)
		return nil
	case !s.take(&t.chosen, item):
		return nil
	}
	s.n--
	s.rank(t)
	next := s.waiting.first()
	if next == nil || s.n >= s.limit {
		return nil
	}
	t = next.value
	last := t.waiting[len(t.waiting)-1]
	s.take(&t.waiting, last)
	s.put(&t.chosen, last)
	s.waits--
	s.n++
	s.rank(t)
	return []K{last}
}

// all calls f for each chosen item. Its cost does not grow with waiting items.
func (s *share[K]) all(f func(K)) {
	for _, t := range s.chosen.nodes {
		for _, item := range t.value.chosen {
			f(item)
		}
	}
}

func (s *share[K]) tenant(namespace string) *tenant[K] {
	t := s.tenants[namespace]
	if t == nil {
		t = &tenant[K]{namespace: namespace, first: slices.Contains(s.first, namespace)}
		t.gives = ranked[*tenant[K], turn]{value: t, place: -1}
		t.getsRoom = t.gives
		s.tenants[namespace] = t
	}
	return t
}

// precedes reports whether one more item of a namespace may displace one of another namespace.
func (t *tenant[K]) precedes(other *tenant[K]) bool {
	return !other.first && (t.first || len(t.chosen)+1 < len(other.chosen))
}

// rank updates the turns of a namespace after a change. The namespace with the most items makes room, first namespaces only after
// all others. The one with the fewest items gets it, first namespaces before all others.
func (s *share[K]) rank(t *tenant[K]) {
	n := turn(len(t.chosen))
	gives, gets := -n, n
	if t.first {
		gives, gets = 1, n-turn(s.limit)-1
	}
	if n > 0 {
		s.chosen.put(&t.gives, gives)
	} else {
		s.chosen.take(&t.gives)
	}
	if len(t.waiting) > 0 {
		s.waiting.put(&t.getsRoom, gets)
	} else {
		s.waiting.take(&t.getsRoom)
	}
	if n == 0 && len(t.waiting) == 0 {
		delete(s.tenants, t.namespace)
	}
}

func (s *share[K]) put(items *[]K, item K) {
	s.places[item] = len(*items)
	*items = append(*items, item)
}

// take removes an item and reports whether it existed. The last item takes its place.
func (s *share[K]) take(items *[]K, item K) bool {
	at, ok := s.places[item]
	if !ok || at >= len(*items) || (*items)[at] != item {
		return false
	}
	end := len(*items) - 1
	last := (*items)[end]
	(*items)[at] = last
	s.places[last] = at
	delete(s.places, item)
	*items = slices.Delete(*items, end, end+1) // clears it, for the garbage collector
	return true
}
