package clients

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

const (
	shortWatch       = reason.ShortWatch * time.Second
	plannedWatch     = reason.PlannedWatch * time.Second
	timeoutTolerance = reason.TimeoutTolerance * time.Second
	// briefWatch is the longest watch that is a check beside an open one, which it does not continue.
	briefWatch = 10 * time.Second
	// longWatch is the duration from which a watch is an informer's, even without bookmarks.
	longWatch = 10 * time.Minute
)

// watch records a stage of a watch.
func (t *Tracker) watch(c *client, r *replica, e *event.Event) {
	if w := t.watches[e.AuditID]; w != nil {
		if e.Stage != event.StageStarted {
			delete(t.watches, e.AuditID)
			t.closed(w, e)
		}
		return
	}
	if e.Stage == event.StageStarted {
		t.request(c, e)
		if e.Code >= http.StatusBadRequest { // as of a client that is not authenticated
			t.rejected(c, r, e)
			return
		}
		if w := t.opened(c, r, e, true); len(t.watches) < maxWatches {
			t.watches[strings.Clone(e.AuditID)] = w
			w.hold(1)
		}
		return
	}
	if !t.isNew(e.AuditID, event.StageStarted) {
		return // was above the limit, or is overdue
	}
	if e.Code/100 != 2 {
		t.request(c, e)
		t.rejected(c, r, e)
		return
	}
	// Its start is in no log, or arrives later and is then a duplicate.
	inLog := !e.Received.Before(t.first)
	if inLog {
		t.request(c, e)
	}
	started := *e
	started.At = e.Received
	w := t.opened(c, r, &started, inLog)
	w.hold(1)
	t.closed(w, e)
}

// hold adds to the number of open watches.
func (w *watch) hold(n int) {
	w.informer.open += n
	w.replica.open += n
	if n > 0 {
		w.state.open = append(w.state.open, w)
		return
	}
	w.state.open = slices.DeleteFunc(w.state.open, func(o *watch) bool { return o == w })
}

// opened records a watch that is open. inLog is false if that was before the log.
func (t *Tracker) opened(c *client, r *replica, e *event.Event, inLog bool) *watch {
	o := e.Options()
	i := t.informer(c, e, o)
	i.watched = true
	s := i.state(r)
	w := &watch{
		client: c, informer: i, replica: r, state: s, received: e.Received, opened: e.At, planned: o.Timeout,
		version: o.Version != "" && o.Version != "0",
	}
	if w.planned == 0 {
		w.planned = plannedWatch
	}
	if w.brief = o.Timeout > 0 && o.Timeout <= briefWatch && len(s.open) > 0; w.brief {
		i.opened++
		return w
	}
	s.opens++
	s.lasting = s.lasting || o.Bookmarks || s.opens > 1
	if inLog {
		i.opened++
	}
	if i.crowd || !inLog {
		return w
	}
	after := w.version || len(s.ended) > 0 // the program has watched before
	switch {
	case o.Streaming:
		i.lists[HowStreaming]++
		i.first.observe(e.At.Sub(e.Received))
		why := cause(r, i, s, o, e.Received)
		i.relists[why]++
		s.fallback = false
		after = follows(why, w.version)
		w.listed = true
	case s.listing != nil:
		i.relists[s.listing.reason]++
		after = follows(s.listing.reason, s.listing.known)
		w.listed = true
	}
	s.listing = nil
	if after {
		w.follow()
	}
	return w
}

// follows reports whether a list with a reason follows a watch of the same program.
func follows(cause string, known bool) bool {
	return cause != reason.Initial && (cause != reason.Fallback || known)
}

// follow pairs a watch with the end of the one before it.
func (w *watch) follow() {
	s := w.state
	w.paired = true
	if len(s.ended) > 0 {
		before := s.ended[0]
		s.ended = s.ended[1:]
		if before.reason == reason.VeryShort && !w.listed { // client-go would have listed: there was an event
			before.reason = reason.ServerClose
			w.informer.wasUp(before)
		}
		w.gap = before.gap
		w.informer.count(before, before.reason)
		return
	}
	for _, before := range s.open { // the end comes late, or not at all: a killed API server
		if before != w && before.superseded.IsZero() {
			before.superseded = w.opened
			before.informer.open--
			return
		}
	}
}

// wasUp corrects the end of a watch that seemed too short to have been up.
func (i *informer) wasUp(e *end) {
	if e.gap.Before(e.at) {
		i.gaps.observe(e.opened.Sub(e.gap))
		e.gap = e.at
	}
}

// count counts an end once.
func (i *informer) count(e *end, why string) {
	if !e.counted {
		e.counted = true
		i.ends[why]++
	}
}

// closed records the end of a watch that is held.
func (t *Tracker) closed(w *watch, e *event.Event) {
	i, s := w.informer, w.state
	w.hold(-1)
	if !w.superseded.IsZero() {
		i.open++ // follow has already subtracted it
	}
	lasted := e.At.Sub(w.received)
	finished := &end{at: e.At, gap: e.At, opened: w.opened, reason: reasonOf(lasted, w.planned, e)}
	if w.brief {
		i.count(finished, finished.reason)
		return
	}
	up := lasted >= shortWatch || lasted < 0
	if !up && !w.gap.IsZero() {
		finished.gap = w.gap
	}
	if up && !w.gap.IsZero() { // a watch that ended within a second continues the gap
		i.gaps.observe(w.opened.Sub(w.gap))
	}
	s.lasting = s.lasting || lasted >= longWatch
	s.last = finished.reason
	if finished.reason == reason.Timeout || i.crowd {
		if i.crowd && finished.reason == reason.ServerClose && i.resource != Other {
			finished.reason = reason.ClientStop // watches of single objects come and go with them
		}
		i.count(finished, finished.reason)
	}
	if i.crowd {
		return
	}
	if !w.superseded.IsZero() {
		i.count(finished, finished.reason)
		i.gaps.observe(w.superseded.Sub(e.At))
		return
	}
	for _, next := range s.open { // events out of order: the next watch was observed first
		if !next.paired && next.version && !next.opened.Before(e.At) && next.opened.Sub(e.At) < settled {
			next.paired, next.gap = true, finished.gap
			i.count(finished, finished.reason)
			return
		}
	}
	if len(s.ended) >= maxEnds {
		i.count(s.ended[0], s.ended[0].reason)
		s.ended = s.ended[1:]
	}
	s.ended = append(s.ended, finished)
}

// reasonOf returns why a watch ended. A negative duration is a clock that was set back.
func reasonOf(lasted, planned time.Duration, e *event.Event) string {
	switch {
	case e.Stage == event.StagePanic || e.Code >= http.StatusInternalServerError:
		return reason.Error
	case lasted >= planned-timeoutTolerance:
		return reason.Timeout
	case lasted >= 0 && lasted < shortWatch:
		return reason.VeryShort
	}
	return reason.ServerClose
}

// rejected records an attempt to open a watch that failed.
func (t *Tracker) rejected(c *client, r *replica, e *event.Event) {
	o := e.Options()
	i := t.informer(c, e, o)
	s := i.state(r)
	if o.Streaming {
		switch e.Code {
		case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity:
			s.fallback = true
		}
		return
	}
	why := reason.Error
	switch e.Code {
	case http.StatusGone:
		why = reason.Expired
	case http.StatusTooManyRequests:
		why = reason.Throttled
	}
	i.ends[why]++
	s.last = why
	if s.listing != nil && !i.crowd {
		i.relists[s.listing.reason]++
		s.listing = nil
	}
	for _, before := range s.ended { // the client is alive
		i.count(before, before.reason)
	}
}
