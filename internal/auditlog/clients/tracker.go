// Package clients turns events of an audit log into the life of each client's informers: watches, their ends and gaps, lists and what
// made them necessary. What an audit log cannot show is in docs/audit-log.md.
package clients

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
)

// Options limit a Tracker. Zero values are defaults.
type Options struct {
	// Clients is the most clients that are told apart, 200 by default.
	Clients int
	// Agents is the most user agents of a user that are told apart, 10 by default: clients choose theirs.
	Agents int
	// Informers is the most informers of all clients, 5000 by default. Once half of them are in use, no client gets more than a tenth.
	// Each may have ten.
	Informers int
}

const (
	defaultClients, defaultAgents, defaultInformers = 200, 10, 5000
	// maxReplicas is the number of source addresses of a client that are told apart, maxWatches that of open watches.
	maxReplicas, maxWatches = 64, 50_000
	// fewInformers are possible for each client, although the limit of all is reached.
	fewInformers = 10
	// maxSeen is the number of stages remembered to recognize duplicates: of the last seconds in the largest clusters.
	maxSeen = 1 << 17
)

const (
	// settled is how long after the end of a watch it is clear whether the client has gone too, and how late events may be.
	settled = time.Minute
	// stopping is how long a client that has ended its watches still sends requests.
	stopping = 5 * time.Second
	// gone is the time without a request after which a replica without open watches is taken to have ended.
	gone = 2 * time.Minute
	// sweeping is the interval, in the time of events, at which the state is tidied.
	sweeping = 15 * time.Second
	// forgotten is how long a client or replica without a request is remembered.
	forgotten = time.Hour
)

// Tracker is a state machine fed with events. It is safe for concurrent use. Its memory is bounded by Options.
type Tracker struct {
	mu      sync.Mutex
	options Options
	seed    maphash.Seed
	clock   clock
	// first is the earliest time of an event: requests before it may have sent events that are not in the log.
	first              time.Time
	events, duplicates uint64
	seen               recent[struct{}]
	reads              recent[time.Time]
	writes             recent[*burst]

	clients map[clientKey]*client
	// agents is the number of clients of each user.
	agents map[string]int
	// watches are the open watches by audit ID.
	watches map[string]*watch
	// informers is the number of all clients' informers.
	informers int
	swept     time.Time
}

// New returns a Tracker without any client.
func New(o Options) *Tracker {
	if o.Clients <= 0 {
		o.Clients = defaultClients
	}
	if o.Agents <= 0 {
		o.Agents = defaultAgents
	}
	if o.Informers <= 0 {
		o.Informers = defaultInformers
	}
	return &Tracker{
		options: o, seed: maphash.MakeSeed(),
		seen: recent[struct{}]{limit: maxSeen}, reads: recent[time.Time]{limit: maxReads}, writes: recent[*burst]{limit: maxBursts},
		clients: map[clientKey]*client{}, agents: map[string]int{}, watches: map[string]*watch{},
	}
}

// Observe records an event. Events may be duplicated and, within a minute, out of order; events of several API servers may be mixed. It
// keeps no reference to e.
func (t *Tracker) Observe(e *event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events++
	if e.Stage != event.StageStarted && e.Stage != event.StageComplete && e.Stage != event.StagePanic {
		return
	}
	if !t.isNew(e.AuditID, e.Stage) {
		t.duplicates++
		return
	}
	if t.clock.advance(e.At); t.first.IsZero() || e.At.Before(t.first) {
		t.first = e.At
	}
	c := t.client(e)
	r := c.replica(e.Source)
	if r.lastSeen = later(r.lastSeen, e.Received); r.lastSeen.After(t.clock.now) {
		r.lastSeen = t.clock.now
	}
	c.lastSeen = later(c.lastSeen, r.lastSeen)
	switch e.Verb {
	case "watch":
		t.watch(c, r, e)
	case "list":
		t.request(c, e)
		if e.Stage == event.StageComplete && e.Code/100 == 2 {
			t.list(c, r, e)
		}
	default:
		t.request(c, e)
	}
	if now := t.clock.now; now.Sub(t.swept) >= sweeping {
		t.sweep(now, false)
	}
}

// isNew reports whether a stage of a request is observed for the first time, and remembers it.
func (t *Tracker) isNew(auditID, stage string) bool {
	key := maphash.Comparable(t.seed, [2]string{auditID, stage})
	if _, known := t.seen.get(key); known {
		return false
	}
	t.seen.put(key, struct{}{})
	return true
}

// clock is the time of the events. It does not follow a single event with a time that is far ahead.
type clock struct {
	now, ahead time.Time
}

// leap is the longest silence that one event may end.
const leap = 10 * time.Minute

func (c *clock) advance(at time.Time) {
	switch {
	case !at.After(c.now):
	case c.now.IsZero(), at.Sub(c.now) <= leap, !c.ahead.IsZero() && at.Sub(c.ahead).Abs() <= leap:
		c.now, c.ahead = at, time.Time{}
	default:
		c.ahead = at
	}
}

// recent remembers the entries used last: between limit and twice as many.
type recent[V any] struct {
	limit    int
	now, old map[uint64]V
}

func (r *recent[V]) get(key uint64) (value V, found bool) {
	if value, found = r.now[key]; found {
		return value, true
	}
	if value, found = r.old[key]; found {
		r.put(key, value)
	}
	return value, found
}

func (r *recent[V]) put(key uint64, value V) {
	if r.now == nil || len(r.now) >= r.limit {
		r.now, r.old = make(map[uint64]V, min(r.limit, 2*len(r.now))), r.now
	}
	r.now[key] = value
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
