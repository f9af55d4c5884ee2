package exporter

import (
	"cmp"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// States of a target besides the answers of the API server that refuse it.
const (
	stateSynced      = "synced"
	stateSyncing     = "syncing"
	stateUnreachable = "unreachable"
)

// noticeableLag is the sync lag that the page draws attention to. It is no objective; alerts have one.
const noticeableLag = time.Second

// state is how a target is doing, for people and programs that look at the exporter itself.
type state struct {
	collectors.InformerStatus
	kind    Kind
	name    string // one of the states, or an answer of the API server
	refused bool
	pending uint64 // of all handlers
}

// states returns how all targets are doing, in their order.
func (e *Exporter) states() []state {
	statuses := map[collectors.ID]collectors.InformerStatus{}
	for _, s := range e.observer.Informers() {
		statuses[s.ID] = s
	}
	var all []state
	for _, t := range e.targets.list() {
		all = append(all, t.state(statuses[t.id()]))
	}
	return all
}

// state says how a target is doing. What the API server says about it comes before what is in the cache.
func (t *target) state(status collectors.InformerStatus) state {
	s := state{InformerStatus: status, kind: t.kind}
	s.ID = t.id() // also of one that has ended
	for _, h := range s.Handlers {
		s.pending += h.Pending
	}
	switch now := t.availability.current(); {
	case now.refusing():
		s.name, s.refused = now.answer, true
	case now.troubled:
		s.name = stateUnreachable
	case s.Synced:
		s.name = stateSynced
	default:
		s.name = stateSyncing
	}
	return s
}

func (s state) late() bool      { return s.SyncLag >= noticeableLag }
func (s state) different() bool { return s.LastAudit.Result == catalog.AuditDifferent }

// calm orders states by how little attention they need.
func (s state) calm() int {
	switch {
	case s.refused:
		return 0
	case s.name == stateUnreachable:
		return 1
	case s.name == stateSyncing:
		return 2
	case s.different():
		return 3
	case s.late():
		return 4
	}
	return 5
}

// byName orders states by what they are about.
func byName(a, b state) int {
	return cmp.Or(cmp.Compare(a.ID.Type(), b.ID.Type()), cmp.Compare(a.ID.Namespace, b.ID.Namespace))
}
