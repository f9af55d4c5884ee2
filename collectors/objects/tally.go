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

// tally counts objects by labels and knows the oldest of each group. A group is reported while it has objects or is held. All
// methods are safe for concurrent use.
type tally struct {
	// limit is the number of groups, except for those that are held and those beyond the limit.
	limit    int
	overflow prometheus.Counter

	mu      sync.Mutex
	groups  map[labels]*group
	limited int // groups that count towards the limit
}

// group is the objects with the same labels.
type group struct {
	labels
	entries timeline[*group]
	holds   int
	limited bool
}

// entry is an object in a group.
type entry = node[*group]

// add counts an object from the given time. If that needs a group beyond the limit, the object joins the group other of its
// informer type and stays there.
func (t *tally) add(l labels, at time.Time) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.groups[l] == nil && t.limited >= t.limit {
		t.overflow.Inc()
		l = l.other()
	}
	g := t.group(l)
	e := newNode(g)
	g.entries.put(e, at)
	t.settle(g)
	return e
}

// remove removes an object from its group.
func (t *tally) remove(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := e.value
	g.entries.take(e)
	t.settle(g)
}

// hold keeps a group even if it is empty, until release has been called as often.
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

// settle deletes a changed group that is empty and not held, and updates whether it counts towards the limit.
func (t *tally) settle(g *group) {
	used := g.entries.len() > 0
	if !used && g.holds == 0 {
		delete(t.groups, g.labels)
	}
	limited := used && g.holds == 0 && g.labels != g.other()
	switch {
	case limited && !g.limited:
		t.limited++
	case !limited && g.limited:
		t.limited--
	}
	g.limited = limited
}

// count is the state of a group in a scrape.
type count struct {
	labels
	objects int
	oldest  time.Duration
}

// counts returns the state of all groups, in no particular order. Its cost grows with groups, not with objects.
func (t *tally) counts(now time.Time) []count {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]count, 0, len(t.groups))
	for _, g := range t.groups {
		c := count{labels: g.labels, objects: g.entries.len()}
		if first := g.entries.first(); first != nil {
			c.oldest = max(0, now.Sub(first.at)) // a grace period ends in the future
		}
		list = append(list, c)
	}
	return list
}
