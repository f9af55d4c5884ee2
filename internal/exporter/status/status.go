// Package status reports how the informers of an exporter are doing, and whether it is ready.
package status

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// States of a target besides the answers of the API server that refuse it.
const (
	StateSynced      = "synced"
	StateSyncing     = "syncing"
	StateUnreachable = "unreachable"
)

// noticeableLag is the sync lag that the page draws attention to. It is no objective; alerts have one.
const noticeableLag = time.Second

// state is how a target is doing, for people and programs that look at the exporter itself.
type Informer struct {
	informer.Status
	Kind    kinds.Kind
	State   string // one of the states, or an answer of the API server
	Refused bool
	Pending uint64 // of all handlers
}

// reporter says how an exporter is doing.
type Reporter struct {
	Name     string // of the shard
	Server   string // address of the API server
	Idle     bool   // there may be nothing to watch, since other shards watch it
	Started  time.Time
	Observer *collectors.Observer
	Set      *informers.Set
	// discovered is closed once the API server has been asked what it serves, or need not be.
	Discovered <-chan struct{}
	// leading tells whether this is the leader: nil without an election.
	Leading func() *bool

	ready    atomic.Bool // has been ready once
	draining atomic.Bool
}

// drain makes the exporter not ready, from now on.
func (r *Reporter) Drain() { r.draining.Store(true) }

// states returns how all targets are doing, in their order.
func (r *Reporter) Informers() []Informer {
	statuses := map[informer.ID]informer.Status{}
	for _, s := range informer.List(r.Observer) {
		statuses[s.ID] = s
	}
	var all []Informer
	for _, t := range r.Set.List() {
		all = append(all, stateOf(t, statuses[t.ID()]))
	}
	return all
}

// stateOf says how a target is doing. What the API server says about it comes before what is in the cache.
func stateOf(t *informers.Informer, status informer.Status) Informer {
	s := Informer{Status: status, Kind: t.Kind}
	s.ID = t.ID() // also of one that has ended
	for _, h := range s.Handlers {
		s.Pending += h.Pending
	}
	switch now := t.Availability.Status(); {
	case now.Refused():
		s.State, s.Refused = now.Answer, true
	case now.Unreachable:
		s.State = StateUnreachable
	case s.Synced:
		s.State = StateSynced
	default:
		s.State = StateSyncing
	}
	return s
}

func (s Informer) Lagging() bool      { return s.SyncLag >= noticeableLag }
func (s Informer) Inconsistent() bool { return s.LastAudit.Result == informer.AuditDifferent }

// calm orders states by how little attention they need.
func (s Informer) Rank() int {
	switch {
	case s.Refused:
		return 0
	case s.State == StateUnreachable:
		return 1
	case s.State == StateSyncing:
		return 2
	case s.Inconsistent():
		return 3
	case s.Lagging():
		return 4
	}
	return 5
}

// byName orders states by what they are about.
func ByName(a, b Informer) int {
	return cmp.Or(cmp.Compare(a.ID.Type(), b.ID.Type()), cmp.Compare(a.ID.Namespace, b.ID.Namespace))
}
