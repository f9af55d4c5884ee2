package objects

import (
	"maps"
	"slices"
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
	share  share[*group]        // groups with objects, except held groups and the groups other
	held   map[*group]struct{}  // groups kept by hold
	others map[labels]*together // groups reported together, by the labels of the group other

	allowance allowance[labels] // of new groups
}

// hiddenPerGroup is the maximum number of groups without room, which cost memory, for each group with room.
const hiddenPerGroup = 10

func newTally(overflow prometheus.Counter, limit int, firstNamespaces []string) *tally {
	share := newShare[*group](limit, firstNamespaces)
	return &tally{
		overflow: overflow, share: share, allowance: newAllowance[labels](share.first),
		groups: map[labels]*group{}, held: map[*group]struct{}{}, others: map[labels]*together{},
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

	counted  int          // number of its objects in together.objects
	together node[*group] // its place in together.groups, which is ordered by the oldest object
}

// together has the groups that are reported as one, with the labels of the group other.
type together struct {
	objects int
	groups  timeline[*group]
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
	t.held[g] = struct{}{}
	t.settle(g)
}

func (t *tally) release(l labels) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[l]
	if g.holds--; g.holds == 0 {
		delete(t.held, g)
	}
	t.settle(g)
}

func (t *tally) group(l labels) *group {
	g := t.groups[l]
	if g == nil {
		g = &group{labels: l}
		g.together = node[*group]{value: g, place: -1}
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
			t.account(promoted)
		}
	}
	t.account(g)
}

// hide is called when a group has begun to wait for room. If too many groups wait, its objects become objects of the group other.
func (t *tally) hide(g *group) {
	if t.share.waits <= hiddenPerGroup*t.share.limit {
		g.hidden = true
		t.account(g)
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
	t.account(other)
}

// account updates the groups that are reported together after one group has changed.
func (t *tally) account(g *group) {
	objects := 0
	if g.hidden || g.labels == g.other() {
		objects = g.entries.len()
	}
	if objects == 0 && g.counted == 0 {
		return
	}
	o := t.others[g.other()]
	if o == nil {
		o = &together{}
		t.others[g.other()] = o
	}
	o.objects += objects - g.counted
	g.counted = objects
	if objects > 0 {
		o.groups.put(&g.together, g.entries.first().at)
		return
	}
	if o.groups.take(&g.together); o.groups.len() == 0 {
		delete(t.others, g.other())
	}
}

// count is the state of a group in a scrape.
type count struct {
	labels
	objects int
	oldest  time.Duration
}

func newCount(l labels, objects int, oldest *entry, now time.Time) count {
	c := count{labels: l, objects: objects}
	if oldest != nil {
		c.oldest = max(0, now.Sub(oldest.at)) // a grace period ends in the future
	}
	return c
}

// counts returns the state of all groups, in no particular order. Those without room or allowance are counted together. Its cost
// grows with groups that have room, not with objects or other groups.
func (t *tally) counts(now time.Time) []count {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]count, 0, t.share.n+len(t.held)+len(t.others))
	others := make(map[labels]count, len(t.others))
	for l, o := range t.others {
		others[l] = newCount(l, o.objects, o.groups.first(), now)
	}
	own := func(g *group) count { return newCount(g.labels, g.entries.len(), g.entries.first(), now) }
	t.share.all(func(g *group) {
		c := own(g)
		if t.admit(g, now) {
			list = append(list, c)
			return
		}
		o := others[g.other()]
		others[g.other()] = count{labels: g.other(), objects: o.objects + c.objects, oldest: max(o.oldest, c.oldest)}
	})
	for g := range t.held {
		list = append(list, own(g))
	}
	return slices.AppendSeq(list, maps.Values(others))
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
