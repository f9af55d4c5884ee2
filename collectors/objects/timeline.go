package objects

import "time"

// timeline holds values ordered by time. The zero value is empty.
type timeline[V any] = ranking[V, time.Time]

// node is a value in a timeline.
type node[V any] = ranked[V, time.Time]

func newNode[V any](value V) *node[V] { return &node[V]{value: value, place: -1} }
