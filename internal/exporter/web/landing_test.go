package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// Durations are formatted with at most their two largest units.
func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                      "0 s",
		0:                                 "0 s",
		time.Microsecond:                  "1 ms",
		1500 * time.Microsecond:           "1 ms",
		999 * time.Millisecond:            "999 ms",
		time.Second:                       "1.0 s",
		9900 * time.Millisecond:           "9.9 s",
		10 * time.Second:                  "10 s",
		59 * time.Second:                  "59 s",
		time.Minute:                       "1 min 0 s",
		59*time.Minute + 58*time.Second:   "59 min 58 s",
		time.Hour:                         "1 h 0 min",
		47*time.Hour + 58*time.Minute:     "47 h 58 min",
		48 * time.Hour:                    "2 days",
		3*24*time.Hour - time.Millisecond: "2 days",
	} {
		if got := short(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// The page shows each figure in its place, and highlights problems if their number is not 0.
func TestPageHasItsFigures(t *testing.T) {
	p := page{
		Name: "name", Version: "v9", Server: "https://cluster", Metrics: "m", API: "json", Up: "5 min 6 s", Leader: "no",
		Synced: 1, Refused: 2, Late: 3, Different: 4, Objects: 50, Informers: make([]status.Informer, 6),
	}
	for _, part := range []string{
		"<title>name: 1 of 6 synced</title>", "<h1>name <small>v9</small></h1>", "<p>6 informers watch https://cluster. Uptime: 5 min 6 s.</p>",
		`<a href="m">Metrics</a>`, `<a href="json">JSON</a>`,
		`<dt>Ready</dt><dd><span class="late">no</span></dd>`, "<dt>Leader</dt><dd>no</dd>", "<dt>Synced</dt><dd>1 of 6</dd>",
		`<dt>Unavailable</dt><dd><span class="late">2</span></dd>`, `<dt>Lagging</dt><dd><span class="late">3</span></dd>`,
		`<dt>Inconsistent</dt><dd><span class="late">4</span></dd>`, "<dt>Objects</dt><dd>50</dd>",
	} {
		if html := p.html(); !strings.Contains(html, part) {
			t.Errorf("no %s in\n%s", part, html)
		}
	}
	p.Ready, p.Leader, p.Late = true, "", 0
	for _, part := range []string{"<dt>Ready</dt><dd>yes</dd>", "<dt>Lagging</dt><dd>0</dd>"} {
		if html := p.html(); !strings.Contains(html, part) || strings.Contains(html, "Leader") || strings.Contains(html, "Profiles") {
			t.Errorf("no %s, or too much, in\n%s", part, html)
		}
	}
	if p.Pprof = true; !strings.Contains(p.html(), `<a href="debug/pprof/">Profiles</a>`) {
		t.Error("no link to the profiles")
	}
	s := newTestServer(t)
	s.Status.Started = time.Now().Add(-61 * 24 * time.Hour)
	response := httptest.NewRecorder()
	s.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if html := response.Body.String(); !strings.Contains(html, "Uptime: 61 days.") {
		t.Errorf("no uptime of 61 days in\n%s", html)
	}
}

// columnsOf returns the columns of an informer's row after its type, with their classes and titles.
func columnsOf(s status.Informer) []string {
	var list []string
	for _, match := range regexp.MustCompile(`(?s)<td(.*?)</td>`).FindAllStringSubmatch(page{Informers: []status.Informer{s}}.html(), -1) {
		list = append(list, match[1])
	}
	return list
}

// Each value of an informer is in its column. A missing value is shown as a dash.
func TestCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
		title := func(d time.Duration) string { return ago(d).UTC().Format(time.RFC3339) }
		s := status.Informer{State: status.StateSynced, Kind: kinds.Kind{Resource: "pods", Namespaced: true}, Pending: 34}
		s.ID = informer.ID{Resource: "pods", Namespace: "shop"}
		s.Objects, s.SyncLag, s.Relists, s.LastSync = 12, 1500*time.Millisecond, 56, 7*time.Second
		s.LastEvent, s.WatchOpened = ago(8*time.Second), ago(9*time.Minute)
		s.LastAudit = informer.AuditStatus{Result: informer.AuditDifferent, Differences: 3, At: ago(10 * time.Second)}
		want := []string{
			` class="dim">shop`, `><span class="state synced">synced</span>`, ` class="n">12`, ` class="n late">1.5 s`, ` class="n">34`,
			` class="n dim" title="` + title(8*time.Second) + `">8.0 s ago`, ` class="n" title="since ` + title(9*time.Minute) + `">9 min 0 s`,
			` class="n">56`, ` class="n dim">7.0 s`,
			` title="` + title(10*time.Second) + `"><span class="late">different (3)</span> <span class="dim">10 s ago</span>`,
		}
		if got := columnsOf(s); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		s.SyncLag, s.Pending, s.ID.Namespace, s.LastAudit.Result = 0, 0, "", informer.AuditConsistent
		got := columnsOf(s)
		if got[0] != ` class="dim">all` || got[3] != ` class="n dim">0 s` || got[4] != ` class="n dim">0` || !strings.Contains(got[9], "<span>consistent</span>") {
			t.Errorf("without a lag: %q", got)
		}
		s.Kind.Namespaced, s.LastAudit.Result, s.LastSync, s.WatchOpened = false, informer.AuditError, 0, ago(61*24*time.Hour)
		got = columnsOf(s)
		if got[0] != ` class="dim">cluster` || !strings.HasSuffix(got[6], ">61 days") || got[8] != ` class="n dim">–` || !strings.Contains(got[9], `<span class="late">error</span>`) {
			t.Errorf("after a failed audit, without a known sync duration: %q", got)
		}
	})
}

// A refused resource has no numbers, unless it was synced before.
func TestCellsOfRefusedResource(t *testing.T) {
	s := status.Informer{State: "forbidden", Kind: kinds.Kind{Resource: "secrets", Namespaced: true}, Refused: true}
	want := []string{
		` class="dim">all`, `><span class="state forbidden">forbidden</span>`, ` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`,
		` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`, `><span class="dim">–</span>`,
	}
	if got := columnsOf(s); !slices.Equal(got, want) {
		t.Errorf("refused:\ngot  %q\nwant %q", got, want)
	}
	s.Objects, s.SyncLag = 5, time.Hour
	if got := columnsOf(s); !slices.Equal(got, want) {
		t.Errorf("refused, with numbers:\ngot  %q\nwant %q", got, want)
	}
	s.Synced = true
	if got := columnsOf(s); got[2] != ` class="n">5` || got[3] != ` class="n late">1 h 0 min` || got[4] != ` class="n dim">0` {
		t.Errorf("synced before: %q", got)
	}
}
