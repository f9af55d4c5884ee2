package clients

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// script is a log that a test writes, with the time in seconds.
type script struct {
	*testing.T
	tracker *Tracker
	last    int
	// user, source and query are those of the next events.
	user, source, resource string
}

func newScript(t *testing.T) *script {
	return &script{T: t, tracker: New(Options{}), user: "operator", source: "10.0.0.1", resource: "pods"}
}

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func (s *script) event(id, verb, stage, query string, code int, received, reached float64) {
	s.tracker.Observe(&event.Event{
		AuditID: id, Stage: stage, Verb: verb, User: s.user, Agent: s.user + "/v1 (linux/amd64)", Source: s.source,
		URI: "/api/v1/" + s.resource + "?" + query, Resource: s.resource, Code: code, Received: at(received), At: at(reached),
	})
}

func (s *script) id() string { s.last++; return fmt.Sprint(s.last) }

// list is a LIST that takes 10 ms.
func (s *script) list(seconds float64, version string) {
	s.event(s.id(), "list", event.StageComplete, "resourceVersion="+version, 200, seconds, seconds+0.01)
}

// open opens a watch. more is the rest of its query.
func (s *script) open(seconds float64, more string) (id string) {
	id = s.id()
	s.event(id, "watch", event.StageStarted, "allowWatchBookmarks=true&timeoutSeconds=300&"+more, 200, seconds, seconds+0.01)
	return id
}

// end ends a watch that was opened.
func (s *script) end(id string, opened, seconds float64, more string) {
	s.event(id, "watch", event.StageComplete, "allowWatchBookmarks=true&timeoutSeconds=300&"+more, 200, opened, seconds)
}

func (s *script) get(seconds float64) {
	s.event(s.id(), "get", event.StageComplete, "", 200, seconds, seconds)
}

// informer returns the only informer of the snapshot.
func (s *script) informer() Informer {
	s.Helper()
	return s.of(s.tracker.Snapshot(time.Time{}))
}

func (s *script) of(snapshot Snapshot) Informer {
	s.Helper()
	if len(snapshot.Clients) != 1 || len(snapshot.Clients[0].Informers) != 1 {
		s.Fatalf("want one informer: %+v", snapshot)
	}
	return snapshot.Clients[0].Informers[0]
}

// expect compares counts with what an informer has.
func (s *script) expect(ends, relists map[string]uint64, gaps int) Informer {
	s.Helper()
	i := s.informer()
	if diff := cmp.Diff(ends, i.Ends); diff != "" {
		s.Errorf("ends, want - got +:\n%s", diff)
	}
	if diff := cmp.Diff(relists, i.Relists); diff != "" {
		s.Errorf("relists, want - got +:\n%s", diff)
	}
	if int(i.Gaps.Count) != gaps {
		s.Errorf("%d gaps, want %d: %+v", i.Gaps.Count, gaps, i.Gaps)
	}
	return i
}

type counts = map[string]uint64

func TestPlannedEnds(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	s.end(s.open(1, "resourceVersion=5"), 1, 301, "")
	s.end(s.open(301.5, "resourceVersion=9"), 301.5, 601.5, "")
	s.open(602, "resourceVersion=12")
	s.get(610)
	i := s.expect(counts{reason.Timeout: 2}, counts{reason.Initial: 1}, 2)
	if i.Opened != 3 || i.Open != 1 || i.Gaps.Max < 0.5 || i.Gaps.Max > 0.6 || !i.Unwatched.IsZero() || i.Lists[HowZero] != 1 {
		t.Errorf("%+v", i)
	}
}

// A scrape within seconds of the end of a client's only watch does not decide that the client has gone.
func TestLatestDecidesNothing(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	s.end(s.open(1, "resourceVersion=5"), 1, 61, "resourceVersion=5")
	if i := s.of(s.tracker.Latest()); len(i.Ends) > 0 || !i.Unwatched.IsZero() {
		t.Errorf("immediately: %+v", i)
	}
	s.get(70)
	s.get(400)
	if i := s.of(s.tracker.Latest()); i.Ends[reason.ServerClose] != 1 || len(i.Ends) != 1 || !i.Unwatched.Equal(at(61)) {
		t.Errorf("when the client lives on: %+v", i)
	}
}

func TestEarlyEndsAndRelists(t *testing.T) {
	for _, c := range []struct {
		name         string
		events       func(s *script)
		ends, relist counts
		gaps         int
	}{
		{"server closes", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.open(62, "resourceVersion=9")
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1}, 1},
		{"410", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.event(s.id(), "watch", event.StageComplete, "resourceVersion=9", 410, 62, 62)
			s.list(63, "9")
			s.open(64, "resourceVersion=20")
		}, counts{reason.ServerClose: 1, reason.Expired: 1}, counts{reason.Initial: 1, reason.Expired: 1}, 1},
		{"410 and a list of the newest", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.event(s.id(), "watch", event.StageComplete, "resourceVersion=9", 410, 62, 62)
			s.list(63, "")
			s.open(64, "resourceVersion=20")
		}, counts{reason.ServerClose: 1, reason.Expired: 1}, counts{reason.Initial: 1, reason.Expired: 1}, 1},
		{"429", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.event(s.id(), "watch", event.StageComplete, "resourceVersion=9", 429, 62, 62)
			s.open(64, "resourceVersion=9")
		}, counts{reason.ServerClose: 1, reason.Throttled: 1}, counts{reason.Initial: 1}, 1},
		{"very short", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			for n := range 3 {
				s.list(float64(62+2*n), "9")
				s.end(s.open(float64(63+2*n), "resourceVersion=9"), float64(63+2*n), float64(63+2*n)+0.1, "")
			}
			s.list(70, "9")
			s.open(71, "resourceVersion=9")
		}, counts{reason.ServerClose: 1, reason.VeryShort: 3}, counts{reason.Initial: 1, reason.WatchFailed: 4}, 1},
		{"streaming list", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.open(62, "sendInitialEvents=true&resourceVersion=9&resourceVersionMatch=NotOlderThan")
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1, reason.WatchFailed: 1}, 1},
		{"fallback", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.event(s.id(), "watch", event.StageComplete, "sendInitialEvents=true&resourceVersion=9", 422, 62, 62)
			s.list(63, "9")
			s.open(64, "resourceVersion=9")
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1, reason.Fallback: 1}, 1},
		{"forbidden", func(s *script) {
			s.event(s.id(), "watch", event.StageComplete, "resourceVersion=9", 403, 62, 62)
		}, counts{reason.Error: 1}, counts{reason.Initial: 1}, 0},
		{"relist after a planned end", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 301, "")
			s.list(302, "9")
			s.open(303, "resourceVersion=9")
		}, counts{reason.Timeout: 1}, counts{reason.Initial: 1, reason.ResyncRequested: 1}, 1},
		{"the program ends", func(s *script) { s.end(s.open(1, "resourceVersion=5"), 1, 61, "") }, counts{reason.ClientStop: 1}, counts{reason.Initial: 1}, 0},
		{"the program starts again", func(s *script) {
			s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
			s.list(70, "0")
			s.open(71, "resourceVersion=9")
		}, counts{reason.ClientStop: 1}, counts{reason.Initial: 2}, 0},
		{"killed API server", func(s *script) { // writes no end
			s.open(1, "resourceVersion=5")
			s.open(62, "resourceVersion=9")
			s.get(130)
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1}, 0},
		{"killed API server, just now", func(s *script) {
			s.open(1, "resourceVersion=5")
			s.open(62, "resourceVersion=9")
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1}, 0},
		{"another API server", func(s *script) { // its log is behind
			id := s.open(1, "resourceVersion=5")
			s.open(62, "resourceVersion=9")
			s.end(id, 1, 61, "")
			s.get(130)
		}, counts{reason.ServerClose: 1}, counts{reason.Initial: 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.list(0, "0")
			c.events(s)
			s.expect(c.ends, c.relist, c.gaps)
		})
	}
}

// Two replicas of one program list at their own time.
func TestReplicas(t *testing.T) {
	s := newScript(t)
	for n := range 2 {
		s.source = fmt.Sprint("10.0.0.", n)
		s.list(float64(10*n), "0")
		s.open(float64(10*n)+1, "resourceVersion=5")
	}
	if i := s.expect(counts{}, counts{reason.Initial: 2}, 0); i.Open != 2 {
		t.Errorf("%d open watches, want 2", i.Open)
	}
	if n := s.tracker.Snapshot(time.Time{}).Clients[0].Replicas; n != 2 {
		t.Errorf("%d replicas, want 2", n)
	}
}

func TestUnwatched(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	s.end(s.open(1, "resourceVersion=5"), 1, 61, "")
	s.get(119)
	if i := s.informer(); !i.Unwatched.IsZero() {
		t.Errorf("unwatched after 58 s: %+v", i)
	}
	s.get(122)
	i := s.of(s.tracker.Snapshot(at(181)))
	if !i.Unwatched.Equal(at(61)) || i.UnwatchedFor != 2*time.Minute {
		t.Errorf("unwatched since %s for %s, want %s and 2m", i.Unwatched, i.UnwatchedFor, at(61))
	}
	if i := s.of(s.tracker.Snapshot(at(242))); !i.Unwatched.IsZero() {
		t.Errorf("unwatched two minutes after its last request: %+v", i)
	}
	s.open(250, "resourceVersion=9")
	if i := s.informer(); !i.Unwatched.IsZero() || i.Gaps.Max < 189 {
		t.Errorf("watched again: %+v", i)
	}
}

// A program without a Lease may send no request for minutes. Its other watches are open.
func TestUnwatchedWithOtherWatches(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	id, lost := s.open(1, "resourceVersion=5"), s.resource
	s.resource = "secrets"
	s.open(1, "resourceVersion=5")
	s.get(122)
	s.resource = lost
	s.end(id, 1, 61, "")
	for _, i := range s.tracker.Snapshot(at(300)).Clients[0].Informers {
		if unwatched := !i.Unwatched.IsZero(); unwatched != (i.Resource == lost) {
			t.Errorf("%s is unwatched: %t", i.Resource, unwatched)
		}
	}
}

// A replica that has sent nothing for an hour but a watch that is still open is not forgotten.
func TestLongWatchIsNotForgotten(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	s.event(s.id(), "watch", event.StageStarted, "allowWatchBookmarks=true&resourceVersion=5", 200, 1, 1)
	if i := s.of(s.tracker.Snapshot(at(3650))); i.Open != 1 {
		t.Fatalf("the watch is not open: %+v", i)
	}
	if n := s.tracker.Snapshot(at(3650)).Clients[0].Replicas; n != 1 {
		t.Errorf("%d replicas after an hour, want 1", n)
	}
}

// A watch that a person ends, as of kubectl get --watch, is not missed.
func TestCommand(t *testing.T) {
	s := newScript(t)
	s.list(0, "")
	id := s.id()
	s.event(id, "watch", event.StageStarted, "resourceVersion=5", 200, 1, 1)
	s.event(id, "watch", event.StageComplete, "resourceVersion=5", 200, 1, 30)
	s.get(200)
	if i := s.informer(); !i.Unwatched.IsZero() {
		t.Errorf("%+v", i)
	}
}

func TestDuplicatesAndBeforeTheLog(t *testing.T) {
	s := newScript(t)
	for range 2 {
		s.event("old", "watch", event.StageComplete, "timeoutSeconds=300", 200, -200, 100)
		s.event("new", "watch", event.StageStarted, "timeoutSeconds=300&resourceVersion=5", 200, 101, 101)
	}
	i := s.expect(counts{reason.Timeout: 1}, counts{}, 1)
	if n := s.tracker.Snapshot(time.Time{}); n.Duplicates != 2 || i.Opened != 1 || i.Open != 1 {
		t.Errorf("%d duplicates, %+v", n.Duplicates, i)
	}
}

// The webhook's batches reorder events.
func TestReordered(t *testing.T) {
	s := newScript(t)
	s.get(-1)
	id := s.open(1, "resourceVersion=5")
	s.list(0, "0")                  // before the watch
	s.open(62, "resourceVersion=9") // after the end of the first
	s.end(id, 1, 61, "resourceVersion=5")
	s.end("c", 70, 80, "resourceVersion=9") // complete before it has started
	s.event("c", "watch", event.StageStarted, "timeoutSeconds=300&resourceVersion=5", 200, 70, 70)
	s.get(200)
	if i := s.expect(counts{reason.ServerClose: 3}, counts{reason.Initial: 1}, 1); i.Opened != 3 {
		t.Errorf("%+v", i)
	}
}

func TestClockSteps(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	id := s.open(1, "resourceVersion=5")
	s.event("far", "get", event.StageComplete, "", 200, 1e9, 1e9) // one event from a wrong clock
	s.get(2)
	if now := s.tracker.Snapshot(time.Time{}).Last; now.After(at(10)) {
		t.Errorf("one event has set the time to %s", now)
	}
	s.end(id, 1, -3600, "") // set back
	s.open(-3599, "resourceVersion=9")
	s.expect(counts{reason.ServerClose: 1}, counts{reason.Initial: 1}, 1)
}

func TestRequests(t *testing.T) {
	s := newScript(t)
	for n := range 100 {
		s.tracker.Observe(&event.Event{
			AuditID: s.id(), Stage: event.StageComplete, Verb: "update", User: "u", Agent: "a/1", Resource: "deployments", Group: "apps", Namespace: "ns",
			Name: "web", Subresource: "status", Code: 200 + 209*(n%2), Received: at(float64(n) / 10), At: at(float64(n) / 10),
		})
	}
	for n := range 3 {
		s.tracker.Observe(&event.Event{
			AuditID: s.id(), Stage: event.StageComplete, Verb: "get", User: "u", Agent: "a/1", Resource: "secrets", Namespace: "ns", Name: "s", Code: 200,
			Received: at(float64(20 + n)), At: at(float64(20 + n)),
		})
	}
	c := s.tracker.Snapshot(time.Time{}).Clients[0]
	status := Object{"deployments.apps", "status"}
	if c.Conflicts[status] != 50 || c.Requests[Request{"update", "4xx"}] != 50 || c.Requests[Request{"get", "2xx"}] != 3 || c.RepeatedReads[Object{Resource: "secrets"}] != 2 {
		t.Errorf("%+v", c)
	}
	if want := []HotLoop{{status, "ns", "web", 100, 100, at(9.9)}}; !cmp.Equal(c.HotLoops, want) {
		t.Errorf("hot loops %+v, want %+v", c.HotLoops, want)
	}
}

// A client cannot take what others need: not with user agents, nor with selectors.
func TestLimits(t *testing.T) {
	s := newScript(t)
	s.tracker = New(Options{Clients: 20, Informers: 100})
	for n := range 5000 {
		s.tracker.Observe(&event.Event{
			AuditID: s.id(), Stage: event.StageStarted, Verb: "watch", User: "hostile", Agent: fmt.Sprintf("%d/1", n), Source: fmt.Sprint(n),
			URI: fmt.Sprintf("/api/v1/pods?labelSelector=a%%3D%d", n), Resource: "pods", Code: 200, Received: at(1), At: at(1),
		})
	}
	s.user = "honest"
	s.list(2, "0")
	s.open(3, "resourceVersion=1")
	snapshot := s.tracker.Snapshot(time.Time{})
	if n := len(snapshot.Clients); n != defaultAgents+2 {
		t.Errorf("%d clients, want %d", n, defaultAgents+2)
	}
	for _, c := range snapshot.Clients {
		if c.User == "honest" && (len(c.Informers) != 1 || c.Informers[0].Open != 1 || c.Informers[0].Resource != "pods") {
			t.Errorf("%+v", c)
		}
	}
}

// A client with more than its share of informers is not cut while there is room for others.
func TestLargeClient(t *testing.T) {
	s := newScript(t)
	s.tracker = New(Options{Informers: 100})
	const most = 50 // half of them
	for n := range 3 * most {
		s.resource = fmt.Sprint("r", n)
		s.open(1, "resourceVersion=1")
	}
	if n := len(s.tracker.Latest().Clients[0].Informers); n != most+1 { // and one for the others
		t.Errorf("%d informers, want %d", n, most+1)
	}
}

// A watch of a client that is not authenticated has a start, and no end.
func TestUnauthenticatedWatch(t *testing.T) {
	s := newScript(t)
	s.event(s.id(), "watch", event.StageStarted, "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 401, 1, 1)
	if i := s.of(s.tracker.Latest()); i.Open != 0 || i.Opened != 0 || len(i.Relists) > 0 {
		t.Errorf("%+v", i)
	}
}

// Checks of a program on its own cache, a watch of a second beside the informer's and a list at its exact version, are neither its watches
// nor relists.
func TestChecksOfAnInformer(t *testing.T) {
	s := newScript(t)
	s.list(0, "0")
	own := s.open(1, "resourceVersion=7")
	for n := range 5 {
		from := 100 + 100*float64(n)
		check := "allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=7"
		id := s.id()
		s.event(id, "watch", event.StageStarted, check, 200, from, from+0.01)
		s.event(id, "watch", event.StageComplete, check, 200, from, from+1)
		s.event(s.id(), "list", event.StageComplete, "limit=500&resourceVersion=7&resourceVersionMatch=Exact", 200, from+20, from+20.01)
		for second := range 80 {
			s.get(from + 20 + float64(second))
		}
		if i := s.of(s.tracker.Latest()); i.Open != 1 || i.UnwatchedFor != 0 {
			t.Fatalf("%d open watches, none for %v", i.Open, i.UnwatchedFor)
		}
	}
	s.end(own, 1, 601, "resourceVersion=7")
	s.open(602, "resourceVersion=9")
	s.get(700)
	i := s.expect(map[string]uint64{reason.Timeout: 6}, map[string]uint64{reason.Initial: 1}, 1)
	if i.Open != 1 || i.Gaps.Max > 1.1 {
		t.Errorf("%+v", i)
	}
	if repeated := s.tracker.Latest().Clients[0].RepeatedReads; len(repeated) > 0 {
		t.Errorf("repeated reads: %v", repeated)
	}
}
