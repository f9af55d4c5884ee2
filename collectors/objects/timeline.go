package objects

import (
	"container/heap"
	"time"
)

// timeline is a heap of values ordered by time. The zero value is empty.
type timeline[V any] struct{ nodes nodes[V] }

// node is a value in a timeline.
type node[V any] struct {
	at    time.Time
	value V
	place int // index in nodes, -1 if not in the timeline
}

func newNode[V any](value V) *node[V] { return &node[V]{value: value, place: -1} }

// put adds n, or moves it to another time.
func (t *timeline[V]) put(n *node[V], at time.Time) {
	n.at = at
	if n.place >= 0 {
		heap.Fix(&t.nodes, n.place)
		return
	}
	heap.Push(&t.nodes, n)
}

// take removes n if it is in the timeline.
func (t *timeline[V]) take(n *node[V]) {
	if n.place >= 0 {
		heap.Remove(&t.nodes, n.place)
	}
}

// first returns the node with the earliest time, or nil.
func (t *timeline[V]) first() *node[V] {
	if len(t.nodes) == 0 {
		return nil
	}
	return t.nodes[0]
}

func (t *timeline[V]) len() int { return len(t.nodes) }

// nodes implements heap.Interface.
type nodes[V any] []*node[V]

func (n nodes[V]) Len() int           { return len(n) }
func (n nodes[V]) Less(i, j int) bool { return n[i].at.Before(n[j].at) }
func (n nodes[V]) Swap(i, j int) {
	n[i], n[j] = n[j], n[i]
	n[i].place, n[j].place = i, j
}

func (n *nodes[V]) Push(x any) {
	added := x.(*node[V])
	added.place = len(*n)
	*n = append(*n, added)
}

func (n *nodes[V]) Pop() any {
	last := len(*n) - 1
	taken := (*n)[last]
	(*n)[last] = nil // for the garbage collector
	*n = (*n)[:last]
	taken.place = -1
	return taken
}
