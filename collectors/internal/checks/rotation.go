package checks

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// How the informers of an Observer take turns, in intervals of freshness checks.
const (
	// turnSilence is the time without a proof after which an informer is due. With intervals of more than 20 seconds, it is
	// longer than the minute between the bookmarks of kube-apiserver, so informers with bookmarks need no checks.
	turnSilence = 3
	// turnRound is the time within which every silent informer has its turn.
	turnRound = 10.0
	// suspicion is the number of intervals after a problem in which every informer is checked.
	suspicion = 2
	// turnSteps is the number of decisions in an interval.
	turnSteps = 10
)

// rotation decides which informer of an Observer is checked next: the one with the oldest proof. A proof is a check, or an
// event or bookmark on the informer's own watch. Informers usually share a connection, and a check of one shows that it
// works. Therefore one check per interval is enough, as long as nothing is wrong, and informers that receive nothing, not
// even bookmarks, have a turn every ten intervals. After a check fails or finds a difference, all others are checked as well
// if they lack a proof of the last interval.
//
// It has no goroutine of its own. The zero value is ready to use.
type rotation struct {
	mu      sync.Mutex
	members []*member
	// timer calls step at next. It is nil without members.
	timer *time.Timer
	next  int64
	// running is the number of members that have a turn.
	running int
	// turns is the number of turns that silent members may take. It rises with time.
	turns   float64
	counted int64
	// requested is when the last check began. Until suspectUntil, all members are checked every interval.
	requested, suspectUntil int64
}

// member is an informer in a rotation.
type member struct {
	checks *Checks
	// turn receives a value when the informer should be checked.
	turn chan struct{}
	// The fields below are guarded by rotation.mu. busy is set during a turn, began is the start of the last one.
	busy  bool
	began int64
	// bad is set if the last check failed or found a difference.
	bad bool
}

func (m *member) interval() int64 { return int64(m.checks.Intervals.Freshness) }

// known returns when the member was last known to be up to date or last had a turn.
func (m *member) known() int64 { return max(m.checks.provedAt(), m.began) }

// join adds an informer, which must receive from its member's turn and then call checked.
func (r *rotation) join(c *Checks) *member {
	m := &member{checks: c, turn: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := c.Observer.Now()
	r.count(now)
	r.members = append(r.members, m)
	switch wait := r.wait(); {
	case r.timer == nil:
		r.next = now + int64(wait)
		r.timer = time.AfterFunc(wait, r.step)
	case now+int64(wait) < r.next: // the interval is shorter than those of the others
		r.next = now + int64(wait)
		r.timer.Reset(wait)
	}
	return m
}

// leave removes a member.
func (r *rotation) leave(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(m.checks.Observer.Now())
	r.end(m)
	at := slices.Index(r.members, m)
	r.members = slices.Delete(r.members, at, at+1)
	if len(r.members) == 0 {
		r.timer.Stop()
		r.timer = nil
	}
}

// checked ends a member's turn with a result, and gives others a turn.
func (r *rotation) checked(m *member, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := m.checks.Observer.Now()
	switch result {
	case FreshnessFresh:
		m.bad = false
	case FreshnessError, FreshnessLagging:
		if !m.bad { // the connection may be dead, for all of its informers
			m.bad = true
			r.suspectUntil = now + suspicion*m.interval()
		}
	}
	r.end(m)
	r.give(now)
}

// end ends a member's turn, if it has one. It is called with the lock held.
func (r *rotation) end(m *member) {
	if m.busy {
		m.busy = false
		r.running--
	}
}

// wait returns the time until the next step. It is called with the lock held.
func (r *rotation) wait() time.Duration {
	shortest := r.members[0].interval()
	for _, m := range r.members[1:] {
		shortest = min(shortest, m.interval())
	}
	return schedule.Jitter(max(time.Duration(shortest)/turnSteps, time.Millisecond))
}

// step gives turns to the members that are due, and schedules the next step.
func (r *rotation) step() {
	r.mu.Lock()
	members := slices.Clone(r.members)
	r.mu.Unlock()
	var waiting sync.WaitGroup // a store that hangs delays the others once
	for _, m := range members {
		if m.checks.canProve() {
			waiting.Go(m.checks.proveByWatch)
		}
	}
	waiting.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.members) == 0 {
		return
	}
	now := r.members[0].checks.Observer.Now()
	r.give(now)
	wait := r.wait()
	r.next = now + int64(wait)
	r.timer.Reset(wait)
}

// count adds the turns of silent members since the last call, and drops those that were not used in time. It is called with
// the lock held.
func (r *rotation) count(now int64) {
	var most float64
	for _, m := range r.members {
		r.turns += float64(now-r.counted) / (turnRound * float64(m.interval()))
		most += turnSilence / turnRound
	}
	r.turns = min(r.turns, max(most, 1))
	r.counted = now
}

// give gives turns to members that are due, starting with those with the oldest proof. It is called with the lock held.
func (r *rotation) give(now int64) {
	r.count(now)
	type candidate struct {
		*member
		known int64
	}
	var due []candidate
	for _, m := range r.members {
		if known := m.known(); !m.busy && now-known >= m.interval() {
			due = append(due, candidate{m, known})
		}
	}
	slices.SortFunc(due, func(a, b candidate) int { return cmp.Compare(a.known, b.known) })
	for _, m := range due {
		if r.running == concurrentFreshnessChecks {
			return
		}
		open := m.checks.Connection.Open()
		switch {
		case !open: // the check makes no request
		case m.bad, now < r.suspectUntil:
		case r.turns >= 1 && now-m.known >= turnSilence*m.interval():
			r.turns--
		case now-r.requested >= m.interval():
		default:
			continue
		}
		if open {
			r.requested = now
		}
		m.busy, m.began = true, now
		r.running++
		m.turn <- struct{}{}
	}
}
