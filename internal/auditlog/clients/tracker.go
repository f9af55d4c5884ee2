// Package clients turns events of an audit log into the life of each client's informers: watches, their ends and gaps, lists and what
// made them necessary.
package clients

import (
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
)

// Options limit a Tracker. Zero values are defaults.
type Options struct {
	// Clients is the most clients that are told apart, 200 by default. A user has at most ten user agents.
	Clients int
	// Informers is the most informers of all clients, 5000 by default. No client has more than a tenth, and each may have ten.
	Informers int
}

// Tracker is a state machine fed with events. It is safe for concurrent use. Its memory is bounded by Options.
type Tracker struct {
	mu sync.Mutex
}

// New returns a Tracker without any client.
func New(o Options) *Tracker { return &Tracker{} }

// Observe takes in an event. Events may be duplicated and, within a minute, out of order; events of several API servers may be mixed. It
// keeps no reference to e.
func (t *Tracker) Observe(e *event.Event) {}

// Snapshot returns the state at a time, or, if that is zero, at the time of the latest event. Ends that are older than a minute by then
// and have no successor are counted.
func (t *Tracker) Snapshot(now time.Time) Snapshot { return Snapshot{} }
