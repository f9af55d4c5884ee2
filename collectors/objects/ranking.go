package objects

import "container/heap"

// ranking is a heap of values ordered by rank. The zero value is empty. A change takes logarithmic time.
type ranking[V any, R rank[R]] struct{ nodes ranks[V, R] }

// rank is the key by which values are ordered.
type rank[R any] interface{ Before(R) bool }

// ranked is a value in a ranking.
type ranked[V any, R rank[R]] struct {
	at    R
	value V
	place int // index in nodes, -1 if not in the ranking
}

// put adds n, or moves it to another rank.
func (r *ranking[V, R]) put(n *ranked[V, R], at R) {
	n.at = at
	if n.place >= 0 {
		heap.Fix(&r.nodes, n.place)
		return
	}
	heap.Push(&r.nodes, n)
}

// take removes n if it is in the ranking.
func (r *ranking[V, R]) take(n *ranked[V, R]) {
	if n.place >= 0 {
		heap.Remove(&r.nodes, n.place)
	}
}

// first returns the node that is before all others, or nil.
func (r *ranking[V, R]) first() *ranked[V, R] {
	if len(r.nodes) == 0 {
		return nil
	}
	return r.nodes[0]
}

func (r *ranking[V, R]) len() int { return len(r.nodes) }

// ranks implements heap.Interface.
type ranks[V any, R rank[R]] []*ranked[V, R]

func (r ranks[V, R]) Len() int           { return len(r) }
func (r ranks[V, R]) Less(i, j int) bool { return r[i].at.Before(r[j].at) }
func (r ranks[V, R]) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].place, r[j].place = i, j
}

func (r *ranks[V, R]) Push(x any) {
	added := x.(*ranked[V, R])
	added.place = len(*r)
	*r = append(*r, added)
}

func (r *ranks[V, R]) Pop() any {
	last := len(*r) - 1
	taken := (*r)[last]
	(*r)[last] = nil // for the garbage collector
	*r = (*r)[:last]
	taken.place = -1
	return taken
}
