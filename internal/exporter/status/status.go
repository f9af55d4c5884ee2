// Package status reports the state of the exporter's informers and its readiness.
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

// States of an informer, in addition to the rejections of package availability.
const (
	StateSynced      = "synced"
	StateSyncing     = "syncing"
	StateUnreachable = "unreachable"
)

// noticeableLag is the sync lag that the landing page highlights. It is not an objective.
const noticeableLag = time.Second

// Informer is the status of an informer, for the landing page and the API.
type Informer struct {
	informer.Status
	Kind    kinds.Kind
	State   string // a State constant or a rejection of package availability
	Refused bool
	Pending uint64 // sum over all handlers
}

// Reporter reports the status of an exporter.
type Reporter struct {
	Name     string // of the shard
	Server   string // address of the API server
	Idle     bool   // other shards may watch everything
	Started  time.Time
	Observer *collectors.Observer
	Set      *informers.Set
	// Discovered is closed after the first discovery, or immediately without discovery.
	Discovered <-chan struct{}
	// Leading reports whether this replica is the leader. It returns nil without an election.
	Leading func() *bool

	ready    atomic.Bool // has been ready at least once
	draining atomic.Bool
}

// Drain makes the exporter not ready.
func (r *Reporter) Drain() { r.draining.Store(true) }

// Informers returns the status of all informers in their order.
func (r *Reporter) Informers() []Informer {
	statuses := map[informer.ID]informer.Status{}
	for _, s := range informer.Statuses(r.Observer) {
		statuses[s.ID] = s
	}
	var all []Informer
	for _, t := range r.Set.List() {
		all = append(all, newInformer(t, statuses[t.ID()]))
	}
	return all
}

// newInformer returns the status of an informer. A rejection by the API server takes precedence over the state of the cache.
func newInformer(t *informers.Informer, status informer.Status) Informer {
	s := Informer{Status: status, Kind: t.Kind}
	s.ID = t.ID() // even for a stopped informer
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

// Lagging reports whether the sync lag is noticeable.
func (s Informer) Lagging() bool { return s.SyncLag >= noticeableLag }

// Inconsistent reports whether the last audit found differences.
func (s Informer) Inconsistent() bool { return s.LastAudit.Result == informer.AuditDifferent }

// Rank returns the place of the informer in an order by severity. The most severe state has rank 0.
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
	case s.Lagging() || s.Degraded:
		return 4
	}
	return 5
}

// ByName orders informers by type and namespace.
func ByName(a, b Informer) int {
	return cmp.Or(cmp.Compare(a.ID.Type(), b.ID.Type()), cmp.Compare(a.ID.Namespace, b.ID.Namespace))
}
