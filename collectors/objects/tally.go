package objects

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// labels are the labels of a metric. finalizer is empty if the metric does not have that label.
type labels struct{ informerType, namespace, finalizer string }

// other returns the labels of objects beyond the limit.
func (l labels) other() labels {
	l.namespace = series.Other
	if l.finalizer != "" {
		l.finalizer = series.Other
	}
	return l
}

// tally counts objects by labels and tracks the oldest of each group. A group is reported while it has objects or is held.
//
// Groups without room, and new groups beyond the allowance of their namespace, are reported together, with the label value "other", and get room as other groups are removed. At most
// hiddenPerGroup*limit groups wait for room. The objects of any further group are moved to the group other, where they stay
// until they are removed.
//
// All methods are safe for concurrent use. Adding or removing an object takes logarithmic time. Moving the objects of a group takes
// that time for each of them, once.
type tally struct {
	overflow prometheus.Counter

	mu     sync.Mutex
	groups map[labels]*group
	share  share[*group] // groups with objects, except held groups and the groups other

	allowance allowance[labels] // of new groups
}

// hiddenPerGroup is the maximum number of groups without room, which cost memory, for each group with room.
const hiddenPerGroup = 10

func newTally(overflow prometheus.Counter, limit int, firstNamespaces []string) *tally {
	share := newShare[*group](limit, firstNamespaces)
	return &tally{
		overflow: overflow, share: share, allowance: newAllowance[labels](share.first),
		groups: map[labels]*group{},
	}
}

// group has the objects with the same labels.
type group struct {
	labels
	entries timeline[*group]
	holds   int
	shared  bool // whether the group is in tally.share
	hidden  bool // whether the group is reported as part of other

	free               bool // whether the group has an object of the initial list
	admitted, rejected bool // by the allowance, in a scrape
}

// entry is an object in a group.
type entry = node[*group]

// add counts an object, with an age that begins at the given time.
func (t *tally) add(l labels, at time.Time) *entry {
	l.namespace, l.finalizer = series.Valid(l.namespace), series.Valid(l.finalizer)
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.group(l)
	e := newNode(g)
	g.entries.put(e, at)
	t.settle(g)
	if g.hidden || e.value != g {
		t.overflow.Inc()
	}
	return e
}

// exempt makes the group of an object free of the allowance.
func (t *tally) exempt(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.value.free = true
}

// remove removes an object from its group.
func (t *tally) remove(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := e.value
	g.entries.take(e)
	t.settle(g)
}

// hold keeps a group even if it is empty, until release has been called once for each hold.
func (t *tally) hold(l labels) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.group(l)
	g.holds++
	t.settle(g)
}

func (t *tally) release(l labels) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[l]
	g.holds--
	t.settle(g)
}

func (t *tally) group(l labels) *group {
	g := t.groups[l]
	if g == nil {
		g = &group{labels: l}
		t.groups[l] = g
	}
	return g
}

// settle deletes a changed group that is empty and not held, and updates whether it needs a series.
func (t *tally) settle(g *group) {
	used := g.entries.len() > 0
	if !used && g.holds == 0 {
		delete(t.groups, g.labels)
	}
	shared := used && g.holds == 0 && g.labels != g.other()
	switch {
	case shared && !g.shared:
		g.shared = true
		chosen, displaced := t.share.add(g.namespace, g)
		if !chosen {
			t.hide(g)
		}
		for _, d := range displaced {
			t.overflow.Add(float64(d.entries.len()))
			t.hide(d)
		}
	case !shared && g.shared:
		g.shared, g.hidden = false, false
		for _, promoted := range t.share.remove(g.namespace, g) {
			promoted.hidden = false
		}
	}
}

// hide is called when a group has begun to wait for room. If too many groups wait, its objects become objects of the group other.
func (t *tally) hide(g *group) {
	if t.share.waits <= hiddenPerGroup*t.share.limit {
		g.hidden = true
		return
	}
	t.share.remove(g.namespace, g)
	g.shared = false
	delete(t.groups, g.labels)
	other := t.group(g.other())
	for e := g.entries.first(); e != nil; e = g.entries.first() {
		g.entries.take(e)
		e.value = other
		other.entries.put(e, e.at)
	}
}

// count is the state of a group in a scrape.
type count struct {
	labels
	objects int
	oldest  time.Duration
}

// counts returns the state of all groups, in no particular order. Those without room or allowance are counted together. Its cost
// grows with groups, not with objects.
func (t *tally) counts(now time.Time) []count {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]count, 0, min(len(t.groups), t.share.limit))
	others := map[labels]*count{}
	together := new(count) // the last of others: most groups have the same
	for _, g := range t.groups {
		c := count{labels: g.labels, objects: g.entries.len()}
		if first := g.entries.first(); first != nil {
			c.oldest = max(0, now.Sub(first.at)) // a grace period ends in the future
		}
		other := g.other()
		if !g.hidden && g.labels != other && (g.holds > 0 || t.admit(g, now)) {
			list = append(list, c)
			continue
		}
		if together.labels != other {
			if together = others[other]; together == nil {
				together = &count{labels: other}
				others[other] = together
			}
		}
		together.objects += c.objects
		together.oldest = max(together.oldest, c.oldest)
	}
	for _, o := range others {
		list = append(list, *o)
	}
	return list
}

// admit reports whether the allowance admits a group, which it does once until the group is deleted.
func (t *tally) admit(g *group, now time.Time) bool {
	if g.admitted {
		return true
	}
	g.admitted = t.allowance.admit(g.namespace, g.labels, g.free, now)
	if !g.admitted && !g.rejected {
		g.rejected = true
		t.overflow.Add(float64(g.entries.len()))
	}
	return g.admitted
}
