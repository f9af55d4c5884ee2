package audit

import "maps"

// Difference is a difference between a cache and the API server, or within a cache.
type Difference struct {
	// Kind is a value of the label kind in the catalog.
	Kind string
	// Namespace and Name identify the object. They are empty for an entry of an index.
	Namespace, Name string
	// Index and Value identify the entry of an index. They are empty for an object, except for the Index whose function fails for it.
	Index, Value string
}

// maxRemembered is the number of differences of each kind that are remembered individually.
const maxRemembered = 10_000

// Differences are the differences that a check has found. It counts all of them, and remembers the first 10,000 of each
// kind individually.
type Differences struct {
	counts     map[string]int
	remembered map[string]map[Difference]int
}

// NewDifferences returns an empty set.
func NewDifferences() *Differences {
	return &Differences{counts: map[string]int{}, remembered: map[string]map[Difference]int{}}
}

// Add adds one difference.
func (d *Differences) Add(difference Difference) { d.AddN(difference, 1) }

// AddN adds a difference that consists of n entries.
func (d *Differences) AddN(difference Difference, n int) {
	kind := difference.Kind
	d.counts[kind] += n
	set := d.remembered[kind]
	if set == nil {
		set = map[Difference]int{}
		d.remembered[kind] = set
	}
	if _, known := set[difference]; known || len(set) < maxRemembered {
		set[difference] += n
	}
}

// Len returns the number of differences.
func (d *Differences) Len() int {
	sum := 0
	for _, n := range d.counts {
		sum += n
	}
	return sum
}

// Count returns the number of differences of one kind.
func (d *Differences) Count(kind string) int { return d.counts[kind] }

// Merge adds all differences of another set.
func (d *Differences) Merge(other *Differences) {
	counts := maps.Clone(d.counts)
	for _, set := range other.remembered {
		for difference, n := range set {
			d.AddN(difference, n)
		}
	}
	for kind, n := range other.counts { // includes those that are not remembered
		d.counts[kind] = counts[kind] + n
	}
}

// Both returns the number of differences in both sets by kind: those that both sets remember, plus the lower of the two
// numbers of differences that are only counted.
func (d *Differences) Both(other *Differences) map[string]int {
	both := map[string]int{}
	for kind, n := range d.counts {
		restOwn, restOther := n, other.counts[kind]
		for difference, n := range d.remembered[kind] {
			restOwn -= n
			both[kind] += min(n, other.remembered[kind][difference])
		}
		for _, n := range other.remembered[kind] {
			restOther -= n
		}
		both[kind] += min(restOwn, restOther)
	}
	return both
}

// New returns the number of differences of one kind that the other set lacks.
func (d *Differences) New(kind string, other *Differences) int {
	return d.counts[kind] - d.Both(other)[kind]
}

// Examples returns up to n differences that both sets remember, for log messages.
func (d *Differences) Examples(n int, other *Differences) []Difference {
	var examples []Difference
	for kind, set := range d.remembered {
		for difference := range set {
			if len(examples) == n {
				return examples
			}
			if _, ok := other.remembered[kind][difference]; ok {
				examples = append(examples, difference)
			}
		}
	}
	return examples
}
