package clients

import (
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// overdue is how much later than planned a watch may end.
const overdue = 5 * time.Minute

// longestPlan is the longest watch of an API server with defaults, for clients that plan none.
const longestPlan = time.Hour

// sweep settles the ends that are older than a minute, or all, and forgets watches with ends that are not in the log.
func (t *Tracker) sweep(now time.Time, all bool) {
	t.swept = now
	for id, w := range t.watches {
		planned := w.planned
		if planned == plannedWatch {
			planned = longestPlan
		}
		lost := !w.superseded.IsZero() && (all || now.Sub(w.superseded) >= settled)
		if !lost && now.Sub(w.opened) < planned+overdue {
			continue
		}
		delete(t.watches, id)
		t.lost(w, w.opened.Add(planned))
	}
	for _, c := range t.clients {
		for _, i := range c.informers {
			i.sweep(now, all)
		}
		for source, r := range c.replicas {
			if r.open == 0 && now.Sub(r.lastSeen) >= forgotten {
				delete(c.replicas, source)
				for _, i := range c.informers {
					delete(i.states, r)
				}
			}
		}
	}
}

// lost records a watch with an end that is not in the log.
func (t *Tracker) lost(w *watch, at time.Time) {
	w.hold(-1)
	finished := &end{at: at, gap: at, reason: reason.Error}
	if !w.superseded.IsZero() { // the client saw its end: an API server that is killed closes its connections
		finished.reason = reasonOf(w.superseded.Sub(w.received), w.planned, &event.Event{})
	}
	w.informer.count(finished, finished.reason)
	if w.brief {
		return
	}
	if w.superseded.IsZero() {
		w.state.last = reason.Error
		if !w.informer.crowd && len(w.state.ended) < maxEnds {
			w.state.ended = append(w.state.ended, finished)
		}
		return
	}
	w.informer.open++ // follow has already subtracted it
}

// sweep settles ends.
func (i *informer) sweep(now time.Time, all bool) {
	for r, s := range i.states {
		for _, e := range s.ended {
			if e.counted || !all && now.Sub(e.at) < settled {
				continue
			}
			if r.open > 0 || r.lastSeen.Sub(e.at) >= stopping {
				i.count(e, e.reason)
				continue
			}
			e.stopped = true
			i.wasUp(e) // nothing says otherwise
			i.count(e, reason.ClientStop)
			s.last = reason.ClientStop
		}
	}
}

// unwatched returns since when a replica that runs has no watch although it had one, or the zero time.
func (i *informer) unwatched(now time.Time) (since time.Time) {
	if i.crowd {
		return since
	}
	for r, s := range i.states {
		if !s.lasting || len(s.open) > 0 || len(s.ended) == 0 || r.open == 0 && now.Sub(r.lastSeen) >= gone {
			continue
		}
		last := s.ended[len(s.ended)-1]
		if last.stopped || last.at.Before(r.restarted) {
			continue
		}
		gap := last.gap
		if r.lastSeen.Sub(gap) >= settled && (since.IsZero() || gap.Before(since)) {
			since = gap
		}
	}
	return since
}
