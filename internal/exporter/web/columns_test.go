package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// Each column sorts by the values that it shows.
func TestColumns(t *testing.T) {
	now := time.Now()
	informer := func(resource string, change func(*status.Informer)) status.Informer {
		s := status.Informer{State: status.StateSynced, Kind: kinds.Kind{Resource: resource, Namespaced: true}}
		s.ID = informer.ID{Resource: resource, Namespace: "m"}
		s.LastEvent, s.WatchOpened = now.Add(-time.Hour), now.Add(-time.Hour)
		s.Objects, s.SyncLag, s.Pending, s.Relists, s.LastSync = 10, time.Minute, 10, 10, time.Minute
		s.LastAudit.Result = "skipped"
		change(&s)
		return s
	}
	for key, tc := range map[string]struct{ less, more func(*status.Informer) }{
		"namespace": {func(s *status.Informer) { s.ID.Namespace = "a" }, func(s *status.Informer) { s.ID.Namespace = "z" }},
		"objects":   {func(s *status.Informer) { s.Objects = 9 }, func(s *status.Informer) { s.Objects = 11 }},
		"lag":       {func(s *status.Informer) { s.SyncLag = time.Second }, func(s *status.Informer) { s.SyncLag = time.Hour }},
		"pending":   {func(s *status.Informer) { s.Pending = 9 }, func(s *status.Informer) { s.Pending = 11 }},
		"event":     {func(s *status.Informer) { s.LastEvent = now }, func(s *status.Informer) { s.LastEvent = now.Add(-time.Hour * 2) }},
		"watch":     {func(s *status.Informer) { s.WatchOpened = now }, func(s *status.Informer) { s.WatchOpened = now.Add(-time.Hour * 2) }},
		"relists":   {func(s *status.Informer) { s.Relists = 9 }, func(s *status.Informer) { s.Relists = 11 }},
		"sync":      {func(s *status.Informer) { s.LastSync = time.Second }, func(s *status.Informer) { s.LastSync = time.Hour }},
		"audit":     {func(s *status.Informer) { s.LastAudit.Result = "different" }, func(s *status.Informer) { s.LastAudit.Result = "consistent" }},
		"state":     {func(s *status.Informer) { s.State = status.StateUnreachable }, func(s *status.Informer) { s.SyncLag = 0 }},
	} {
		none := func(*status.Informer) {}
		for _, descending := range []bool{false, true} {
			states := []status.Informer{informer("b", none), informer("z", tc.less), informer("a", tc.more), informer("c", none)}
			arrange(states, key, descending)
			var got string
			for _, s := range states {
				got += s.ID.Resource
			}
			if want := map[bool]string{false: "zbca", true: "abcz"}[descending]; got != want {
				t.Errorf("%s, descending %t: %s, want %s", key, descending, got, want)
			}
		}
	}
	for i, c := range columns {
		if slices.IndexFunc(columns, func(other column) bool { return other.key == c.key || other.title == c.title }) != i {
			t.Errorf("column %q is repeated", c.key)
		}
	}
	// A link reverses the order of its column, or sorts by another one: by text in ascending order, by numbers in descending order.
	var links []string
	for _, h := range arrange(nil, "resource", false) {
		links = append(links, strings.TrimPrefix(h.Link, "?sort="))
	}
	if got, want := strings.Join(links, " "), "resource&desc namespace state objects&desc lag&desc pending&desc event&desc watch&desc relists&desc sync&desc audit"; got != want {
		t.Errorf("links %s, want %s", got, want)
	}
}

// A degraded informer is shown as such.
func TestDegraded(t *testing.T) {
	s := status.Informer{State: status.StateSynced, Kind: kinds.Kind{Resource: "pods", Namespaced: true}}
	if html := (page{Informers: []status.Informer{s}}).html(); strings.Contains(html, "degraded") {
		t.Error("degraded without a reason")
	}
	s.Degraded = true // S42
	if html := (page{Informers: []status.Informer{s}}).html(); !strings.Contains(html, `<span class="late">degraded</span>`) {
		t.Error("not shown as degraded")
	}
}
