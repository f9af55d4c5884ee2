package clients

import (
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// restarting is how long a program takes at least to start again.
const restarting = 2 * time.Second

// list records a LIST that has succeeded.
func (t *Tracker) list(c *client, r *replica, e *event.Event) {
	o := e.Options()
	i := t.informer(c, e, o)
	s := i.state(r)
	i.lists[how(o)]++
	if o.Continued {
		if s.listing != nil {
			s.listing.at = e.At
		}
		return
	}
	i.listed.observe(e.At.Sub(e.Received))
	if i.crowd || how(o) == HowExact { // no watch follows a comparison with a version that the program has
		return
	}
	why := cause(r, i, s, o, e.Received)
	s.fallback = false
	for _, w := range s.open { // events out of order: the watch that followed was observed first
		if after := w.received.Sub(e.At); !w.listed && after >= 0 && after < settled && t.clock.now.Sub(e.At) < settled && unexplained(w, o) {
			if s.opens == 1 {
				why = reason.Initial
			}
			w.listed = true
			i.relists[why]++
			return
		}
	}
	if s.listing != nil && e.At.Sub(s.listing.at) < rereading {
		add(c.repeated, Object{Resource: i.resource}) // nothing was watched after the last list: an informer would have saved this one
	}
	s.listing = &listing{at: e.At, reason: why, known: known(o)}
}

// unexplained reports whether a list may have preceded a watch: always if it is the only one, else if the list follows a watch.
func unexplained(w *watch, o event.Options) bool { return w.state.opens == 1 || known(o) }

// known reports whether a program asks for a version that it has: it has listed or watched before.
func known(o event.Options) bool { return o.Version != "" && o.Version != "0" }

// cause returns the reason for a list that begins. client-go asks for the version it has, unless it is starting or that has expired.
func cause(r *replica, i *informer, s *state, o event.Options, at time.Time) string {
	if s.fallback && !o.Streaming {
		return reason.Fallback
	}
	if s.last == reason.Expired {
		return reason.Expired
	}
	if !known(o) {
		switch {
		case s.opens == 0 && s.last == "", len(s.ended) == 0 && len(s.open) > 0: // there may be two informers in a program
			return reason.Initial
		case len(s.ended) > 0 && (r.open == 0 && at.Sub(s.ended[len(s.ended)-1].at) >= restarting || s.ended[0].at.Before(r.restarted)):
			if r.open == 0 {
				r.restarted = at
			}
			for _, before := range s.ended {
				if before.reason == reason.ServerClose || before.reason == reason.VeryShort {
					before.reason = reason.ClientStop
				}
				i.count(before, before.reason)
			}
			s.ended, s.last = nil, ""
			return reason.Initial
		case s.opens > 0 && len(s.ended) == 0 && len(s.open) == 0 && s.last == "": // after a restart
			return reason.Initial
		}
	}
	switch s.last {
	case reason.Timeout, reason.ClientStop:
		return reason.ResyncRequested
	}
	return reason.WatchFailed
}

// how returns how a list asks.
func how(o event.Options) string {
	switch {
	case o.Streaming:
		return HowStreaming
	case o.Continued:
		return HowPaged
	case strings.EqualFold(o.Match, "Exact"):
		return HowExact
	case o.Version == "0":
		return HowZero
	case o.Version != "":
		return HowNotOlderThan
	case o.Paged:
		return HowPaged
	}
	return HowUnset
}
