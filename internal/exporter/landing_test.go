package exporter

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func TestLandingPage(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	response := get(e, "/")
	body := response.Body.String()
	for _, part := range []string{
		"informer-exporter: 2 of 3 synced", `<th scope="row">pods</th>`, `<span class="state synced">synced</span>`,
		`<span class="state forbidden">forbidden</span>`, `href="metrics"`, `href="readyz?verbose"`, `href="api/v1/informers"`,
		`aria-sort="ascending"><a href="?sort=state&amp;desc">State</a>`, `<a href="?sort=objects&amp;desc">Objects</a>`, `<a href="?sort=resource">Resource</a>`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	for _, part := range []string{"<script", "http://", "https://", "url(", "style=", "unmistakable", "ZgotmplZ", "debug/pprof"} {
		if strings.Contains(body, part) {
			t.Errorf("the page has %q", part)
		}
	}
	if !strings.HasPrefix(body, "<!DOCTYPE html>") {
		t.Errorf("starts with %.20q", body)
	}

	// The policy allows exactly the style that the browser gets.
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(body)
	sum := sha256.Sum256([]byte(style[1]))
	want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if policy := response.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, want) {
		t.Errorf("content security policy is %q, want %s in it", policy, want)
	}
}

// order returns the resources of the table from top to bottom.
func order(e *Exporter, target string) (resources []string) {
	for _, match := range regexp.MustCompile(`<th scope="row">(.*)</th>`).FindAllStringSubmatch(get(e, target).Body.String(), -1) {
		resources = append(resources, match[1])
	}
	return resources
}

func TestLandingPageSorts(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	for target, want := range map[string][]string{
		"/":                    {"secrets", "nodes", "pods"}, // what needs attention is first
		"/?sort=nonsense&desc": {"secrets", "nodes", "pods"},
		"/?sort=state&desc":    {"nodes", "pods", "secrets"},
		"/?sort=resource":      {"nodes", "pods", "secrets"},
		"/?sort=resource&desc": {"secrets", "pods", "nodes"},
		"/?sort=objects&desc":  {"pods", "nodes", "secrets"}, // 2, 0, 0
		"/?sort=objects":       {"nodes", "secrets", "pods"},
	} {
		if got := order(e, target); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	for target, want := range map[string]string{
		"/?sort=objects&desc": `aria-sort="descending"><a href="?sort=objects">Objects</a>`,
		"/?sort=objects":      `aria-sort="ascending"><a href="?sort=objects&amp;desc">Objects</a>`,
		"/?sort=resource":     `aria-sort="ascending"><a href="?sort=resource&amp;desc">Resource</a>`,
	} {
		if body := get(e, target).Body.String(); !strings.Contains(body, want) || strings.Count(body, ` aria-sort="`) != 1 {
			t.Errorf("%s does not have %s, once", target, want)
		}
	}
}

// Each column sorts by what it shows.
func TestColumns(t *testing.T) {
	now := time.Now()
	status := func(resource string, change func(*state)) state {
		s := state{name: stateSynced, kind: Kind{Resource: resource, Namespaced: true}}
		s.ID = collectors.ID{Resource: resource, Namespace: "m"}
		s.LastEvent, s.WatchOpened = now.Add(-time.Hour), now.Add(-time.Hour)
		s.Objects, s.SyncLag, s.pending, s.Relists, s.LastSync = 10, time.Minute, 10, 10, time.Minute
		s.LastAudit.Result = catalog.AuditSkipped
		change(&s)
		return s
	}
	for key, tc := range map[string]struct{ less, more func(*state) }{
		"namespace": {func(s *state) { s.ID.Namespace = "a" }, func(s *state) { s.ID.Namespace = "z" }},
		"objects":   {func(s *state) { s.Objects = 9 }, func(s *state) { s.Objects = 11 }},
		"lag":       {func(s *state) { s.SyncLag = time.Second }, func(s *state) { s.SyncLag = time.Hour }},
		"pending":   {func(s *state) { s.pending = 9 }, func(s *state) { s.pending = 11 }},
		"event":     {func(s *state) { s.LastEvent = now }, func(s *state) { s.LastEvent = now.Add(-time.Hour * 2) }},
		"watch":     {func(s *state) { s.WatchOpened = now }, func(s *state) { s.WatchOpened = now.Add(-time.Hour * 2) }},
		"relists":   {func(s *state) { s.Relists = 9 }, func(s *state) { s.Relists = 11 }},
		"sync":      {func(s *state) { s.LastSync = time.Second }, func(s *state) { s.LastSync = time.Hour }},
		"audit":     {func(s *state) { s.LastAudit.Result = catalog.AuditDifferent }, func(s *state) { s.LastAudit.Result = catalog.AuditConsistent }},
		"state":     {func(s *state) { s.name = stateUnreachable }, func(s *state) { s.SyncLag = 0 }},
	} {
		none := func(*state) {}
		for _, descending := range []bool{false, true} {
			states := []state{status("b", none), status("z", tc.less), status("a", tc.more), status("c", none)}
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
			t.Errorf("column %q is there twice", c.key)
		}
	}
}

func TestRow(t *testing.T) {
	s := state{name: stateSynced, kind: Kind{Resource: "pods", Namespaced: true}}
	s.SyncLag = 2 * time.Second
	s.LastAudit = collectors.AuditStatus{Result: catalog.AuditDifferent, At: time.Now().Add(-time.Minute), Differences: 3}
	if r := newRow(s); r.Namespace != "all" || !r.Late || r.SyncLag != "2.0 s" || r.Audit != "different (3)" || !r.Bad || r.LastEvent != "" || r.Watch != "" {
		t.Errorf("%+v", r)
	}
	// What is refused has no numbers, unless there were some before.
	s.refused = true
	if r := newRow(s); !r.Blank {
		t.Errorf("%+v", r)
	}
	s.Synced = true
	if r := newRow(s); r.Blank {
		t.Errorf("%+v", r)
	}
	s.kind.Namespaced, s.SyncLag, s.LastAudit.Result = false, 0, catalog.AuditConsistent
	if r := newRow(s); r.Namespace != "cluster" || r.Late || r.Audit != "consistent" || r.Bad {
		t.Errorf("%+v", r)
	}
}
