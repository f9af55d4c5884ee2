package clients

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Snapshot is what a Tracker knows at one time. It shares no memory with the Tracker.
type Snapshot struct {
	// First and Last are the earliest and latest times of events; Last is the time at which the Snapshot holds.
	First, Last time.Time
	// Events is the number of events observed, Duplicates the number of those among them that had been observed before.
	Events, Duplicates uint64
	// Clients are sorted by User and Agent. The requests of clients above the limits are in one with User Other.
	Clients []Client
}

// Other is the user, user agent or resource for everything above a limit.
const Other = "other"

// Client is a user with the first word of its user agent. Its counters only grow until it is forgotten after an hour without a request,
// which only happens to make room for another.
type Client struct {
	User, Agent string
	// Replicas is the number of source addresses seen.
	Replicas int
	// Requests counts completed requests.
	Requests map[Request]uint64
	// Conflicts counts updates and patches that failed with 409 Conflict.
	Conflicts map[Object]uint64
	// Throttled counts responses with 429 Too Many Requests.
	Throttled uint64
	// RepeatedReads counts GETs and LISTs of what the client had read within ten minutes before: an informer would have saved them.
	// Leases are left out.
	RepeatedReads map[Object]uint64
	// Bytes is the size of all responses in the log: 0 at level Metadata.
	Bytes uint64
	// HotLoops are the objects that the client wrote more often than once a second for a minute, the busiest first.
	HotLoops []HotLoop
	// Informers are sorted by resource, namespace and selector.
	Informers []Informer
}

// Request is the key of a count of requests.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete, deletecollection or Other.
	Verb string
	// Class is 2xx, 3xx, 4xx, 5xx or Other.
	Class string
}

// Object is the key of a count by resource.
type Object struct {
	// Resource has its group unless it is the core group: deployments.apps.
	Resource    string
	Subresource string
}

// HotLoop is an object that a client wrote over and over.
type HotLoop struct {
	Object
	// Namespace and Name must not become labels of a metric.
	Namespace, Name string
	// Writes is how often it was written in the minute with most writes, Total in all minutes above the threshold.
	Writes, Total int
	// Last is the time of the last write in a minute above the threshold.
	Last time.Time
}

// Informer is what a client watches: a resource, in a namespace, with selectors. All replicas of a client share it.
type Informer struct {
	// Resource has its group unless it is the core group. It is Other for everything above the limits.
	Resource string
	// Namespace is empty for all namespaces and for cluster-scoped resources.
	Namespace string
	// Selector is the label selector and field selector, empty for all objects. The names of single objects are replaced: all informers
	// of one object each share an Informer, with neither Relists nor Gaps.
	Selector string
	// Watched is set if there was a watch: without one, there were only lists.
	Watched bool
	// Open is the number of open watches.
	Open int
	// Opened counts watches that were opened within the log.
	Opened uint64
	// Ends counts the ends of watches and failed attempts to open one, by reason.Ends. The end of a watch that has no successor is counted
	// after a minute, when it is clear whether the client has gone too: client_stop.
	Ends map[string]uint64
	// Relists counts lists that a watch followed, and streaming lists, by reason.Relists.
	Relists map[string]uint64
	// Lists counts all successful lists by how they ask: see Hows.
	Lists map[string]uint64
	// Gaps are the times between watches, ListDurations the durations of LISTs, FirstEvents those between the request and the response of
	// streaming lists.
	Gaps, ListDurations, FirstEvents Histogram
	// Unwatched is since when a replica that had a watch, and has sent requests more than a minute later, has none. It is the zero time if
	// all have one, or have ended.
	Unwatched time.Time
	// UnwatchedFor is how long that has lasted.
	UnwatchedFor time.Duration
}

// How a list asks, the keys of Informer.Lists.
const (
	// HowUnset is the newest state from etcd.
	HowUnset = "unset"
	// HowZero is any state in the watch cache.
	HowZero = "0"
	// HowExact is one version.
	HowExact = "exact"
	// HowNotOlderThan is a version or a later one.
	HowNotOlderThan = "not_older_than"
	// HowStreaming is a streaming list.
	HowStreaming = "streaming"
	// HowPaged is a page with a limit of the newest state, or a page after the first.
	HowPaged = "paged"
)

// Hows returns how lists ask, in the order in which they are documented.
func Hows() []string {
	return []string{HowUnset, HowZero, HowExact, HowNotOlderThan, HowStreaming, HowPaged}
}

// Histogram counts durations in seconds.
type Histogram struct {
	// Counts are the numbers of durations up to each of Bounds, not cumulative, then of longer ones.
	Counts [len(bounds) + 1]uint64
	// Count is the number of durations, Sum their sum and Max the longest, in seconds.
	Count    uint64
	Sum, Max float64
}

// bounds in seconds.
var bounds = [...]float64{0.01, 0.1, 1, 5, 30, 120, 600}

// Bounds returns the upper bounds in seconds of a Histogram.
func Bounds() []float64 { return bounds[:] }

func (h *Histogram) observe(d time.Duration) {
	seconds := max(0, d.Seconds())
	i := 0
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	h.Counts[i]++
	h.Count++
	h.Sum += seconds
	h.Max = max(h.Max, seconds)
}

// Snapshot returns the state at a time, or, if that is zero, at the end of a log: ends without a successor are then counted although
// they are not older than a minute. It holds the Tracker's lock and takes milliseconds for thousands of informers.
func (t *Tracker) Snapshot(now time.Time) Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.IsZero() {
		return t.snapshot(t.clock.now, true)
	}
	return t.snapshot(now, false)
}

// Latest returns the state at the time of the newest event, of a log that goes on.
func (t *Tracker) Latest() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot(t.clock.now, false)
}

func (t *Tracker) snapshot(now time.Time, all bool) Snapshot {
	t.sweep(now, all)
	s := Snapshot{First: t.first, Last: now, Events: t.events, Duplicates: t.duplicates}
	for _, c := range t.clients {
		s.Clients = append(s.Clients, c.snapshot(now, all))
	}
	slices.SortFunc(s.Clients, func(a, b Client) int { return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Agent, b.Agent)) })
	return s
}

func (c *client) snapshot(now time.Time, all bool) Client {
	s := Client{
		User: c.user, Agent: c.agent, Replicas: len(c.replicas), Requests: maps.Clone(c.requests),
		Conflicts: maps.Clone(c.conflicts), Throttled: c.throttled, RepeatedReads: maps.Clone(c.repeated), Bytes: c.bytes,
	}
	for _, hot := range c.hot {
		s.HotLoops = append(s.HotLoops, *hot)
	}
	slices.SortFunc(s.HotLoops, func(a, b HotLoop) int {
		return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name))
	})
	for _, i := range c.informers {
		s.Informers = append(s.Informers, i.snapshot(now, all))
	}
	slices.SortFunc(s.Informers, func(a, b Informer) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Selector, b.Selector))
	})
	return s
}

func (i *informer) snapshot(now time.Time, all bool) Informer {
	s := Informer{
		Resource: i.resource, Namespace: i.namespace, Selector: i.selector, Watched: i.watched, Open: i.open, Opened: i.opened,
		Ends: maps.Clone(i.ends), Relists: maps.Clone(i.relists), Lists: maps.Clone(i.lists),
		Gaps: i.gaps, ListDurations: i.listed, FirstEvents: i.first, Unwatched: i.unwatched(now),
	}
	for _, st := range i.states {
		for _, w := range st.open { // gaps before watches that are open
			if !w.gap.IsZero() && (all || now.Sub(w.opened) >= shortWatch) {
				s.Gaps.observe(w.opened.Sub(w.gap))
			}
		}
	}
	if !s.Unwatched.IsZero() {
		s.UnwatchedFor = max(0, now.Sub(s.Unwatched))
	}
	return s
}
