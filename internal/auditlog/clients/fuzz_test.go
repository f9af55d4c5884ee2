package clients

import (
	"fmt"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
)

// Any sequence of events keeps the state consistent: numbers of open watches are never negative, and those of an informer are those that
// are held. Each byte pair of the input is an event.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	f.Add([]byte("list, watch, end and list again, in any order"))
	queries := []string{
		"", "resourceVersion=0", "resourceVersion=7", "sendInitialEvents=true", "sendInitialEvents=true&resourceVersion=7", "limit=5", "continue=x&limit=5",
		"timeoutSeconds=300&resourceVersion=7&allowWatchBookmarks=true", "fieldSelector=metadata.name%3Dx", "%zz&timeoutSeconds=99999999999999999999",
	}
	codes := []int{200, 200, 200, 200, 410, 429, 403, 422, 500, 0}
	f.Fuzz(func(t *testing.T, input []byte) {
		tracker := New(Options{Clients: 3, Informers: 10})
		now, ids := start, 0
		var begun []event.Event
		for n := 0; n+1 < len(input); n += 2 {
			a, b := int(input[n]), int(input[n+1])
			now = now.Add(time.Duration(b-20) * 500 * time.Millisecond)
			e := event.Event{
				AuditID: fmt.Sprint(ids), Stage: event.StageComplete, Verb: []string{"watch", "watch", "list", "get", "update"}[a%5], User: fmt.Sprint("u", b%5),
				Agent: fmt.Sprint("a", a%3), Source: fmt.Sprint(b % 3), URI: "/?" + queries[(a/5)%len(queries)], Resource: []string{"pods", "secrets"}[b%2],
				Name: "x", Code: codes[b%len(codes)], Received: now.Add(-time.Second), At: now,
			}
			switch {
			case a%7 == 0 && len(begun) > 0: // the end of a watch
				e = begun[b%len(begun)]
				e.Stage, e.At = event.StageComplete, now
			case e.Verb == "watch" && a%2 == 0:
				e.Stage, e.Code, e.Name = event.StageStarted, 200, ""
				begun = append(begun, e)
			}
			if e.Verb == "list" {
				e.Name = ""
			}
			ids++
			tracker.Observe(&e)
		}
		for _, at := range []time.Time{{}, now.Add(time.Hour), now.Add(100 * time.Hour)} {
			verify(t, tracker, at)
		}
		if n := len(tracker.watches); n != 0 {
			t.Errorf("%d watches are held 100 h after their end", n)
		}
	})
}

// verify verifies that a snapshot is consistent with the state.
func verify(t *testing.T, tracker *Tracker, at time.Time) {
	t.Helper()
	held := 0
	for _, w := range tracker.watches {
		if w.superseded.IsZero() {
			held++
		}
	}
	before := held
	snapshot := tracker.Snapshot(at)
	held = 0
	for _, w := range tracker.watches {
		if w.superseded.IsZero() {
			held++
		}
	}
	open := 0
	for _, c := range snapshot.Clients {
		for _, i := range c.Informers {
			if i.Open < 0 || i.UnwatchedFor < 0 {
				t.Fatalf("%+v", i)
			}
			open += i.Open
		}
	}
	if open != held || held > before {
		t.Fatalf("%d open watches in the snapshot, %d held, %d before", open, held, before)
	}
	for _, c := range tracker.clients {
		for _, r := range c.replicas {
			if r.open < 0 {
				t.Fatalf("replica with %d open watches", r.open)
			}
		}
	}
}
