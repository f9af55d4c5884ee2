package audit

import (
	"maps"

	"k8s.io/client-go/tools/cache"
)

// Difference is a difference between a cache and the API server, or within a cache.
type Difference struct {
	// Type is a value of the label difference in the catalog.
	Type string
	// Namespace and Name identify the object. They are empty for an entry of an index.
	Namespace, Name string
	// Index and Value identify the entry of an index. They are empty for an object, unless an index function fails for it: then
	// Index is the name of that index.
	Index, Value string
}

// String implements fmt.Stringer, for logs: "missing shop/web", "index by-node=a", "index by-node shop/web".
func (d Difference) String() string {
	switch object := cache.NewObjectName(d.Namespace, d.Name).String(); {
	case d.Name == "":
		return d.Type + " " + d.Index + "=" + d.Value
	case d.Index != "":
		return d.Type + " " + d.Index + " " + object
	default:
		return d.Type + " " + object
	}
}

// maxRemembered is the number of differences of each type that are remembered individually.
const maxRemembered = 10_000

// Differences is the set of differences that a check has found. It counts all of them, and remembers the first 10,000 of each
// type individually.
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
	typ := difference.Type
	d.counts[typ] += n
	set := d.remembered[typ]
	if set == nil {
		set = map[Difference]int{}
		d.remembered[typ] = set
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

// Count returns the number of differences of one type.
func (d *Differences) Count(typ string) int { return d.counts[typ] }

// Merge adds all differences of another set.
func (d *Differences) Merge(other *Differences) {
	counts := maps.Clone(d.counts)
	for _, set := range other.remembered {
		for difference, n := range set {
			d.AddN(difference, n)
		}
	}
	for typ, n := range other.counts { // includes those that are not remembered
		d.counts[typ] = counts[typ] + n
	}
}

// Both returns the number of differences in both sets by type: those that both sets remember, plus the lower of the two
// numbers of differences that are only counted.
func (d *Differences) Both(other *Differences) map[string]int {
	both := map[string]int{}
	for typ, n := range d.counts {
		restOwn, restOther := n, other.counts[typ]
		for difference, n := range d.remembered[typ] {
			restOwn -= n
			both[typ] += min(n, other.remembered[typ][difference])
		}
		for _, n := range other.remembered[typ] {
			restOther -= n
		}
		both[typ] += min(restOwn, restOther)
	}
	return both
}

// New returns the number of differences of one type that the other set lacks.
func (d *Differences) New(typ string, other *Differences) int {
	return d.counts[typ] - d.Both(other)[typ]
}

// Examples returns up to n differences that both sets remember, for log messages.
func (d *Differences) Examples(n int, other *Differences) []Difference {
	var examples []Difference
	for typ, set := range d.remembered {
		for difference := range set {
			if len(examples) == n {
				return examples
			}
			if _, ok := other.remembered[typ][difference]; ok {
				examples = append(examples, difference)
			}
		}
	}
	return examples
}
