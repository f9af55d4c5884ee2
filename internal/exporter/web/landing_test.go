package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
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
		Synced: 1, Refused: 2, Late: 3, Different: 4, Objects: 50, Rows: make([]row, 6),
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

// cells returns the columns of an informer's row after its type, with their classes and titles.
func cells(r row) []string {
	var m markup
	r.add(&m)
	var list []string
	for _, match := range regexp.MustCompile(`(?s)<td(.*?)</td>`).FindAllStringSubmatch(m.String(), -1) {
		list = append(list, match[1])
	}
	return list
}

// Each value of an informer is in its column. A missing value is shown as a dash.
func TestCells(t *testing.T) {
	r := row{
		Type: "pods", Namespace: "shop", State: "synced", Objects: 12, Pending: 34, SyncLag: "1.5 s", Late: true, Relists: 56, LastSync: "7.0 s",
		LastEvent: "8.0 s", LastEventAt: "then", Watch: "9 min 0 s", WatchOpenedAt: "before", Audit: "different (3)", AuditAge: "10 s", AuditedAt: "lately", Bad: true,
	}
	want := []string{
		` class="dim">shop`, `><span class="state synced">synced</span>`, ` class="n">12`, ` class="n late">1.5 s`, ` class="n">34`,
		` class="n dim" title="then">8.0 s ago`, ` class="n" title="since before">9 min 0 s`, ` class="n">56`, ` class="n dim">7.0 s`,
		` title="lately"><span class="late">different (3)</span> <span class="dim">10 s ago</span>`,
	}
	if got := cells(r); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r.Late, r.Pending = false, 0
	if got := cells(r); got[3] != ` class="n dim">1.5 s` || got[4] != ` class="n dim">0` {
		t.Errorf("without a lag: %q", got)
	}
	want = []string{
		` class="dim">all`, `><span class="state forbidden">forbidden</span>`, ` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`,
		` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`, ` class="n dim">–`, `><span class="dim">–</span>`,
	}
	if got := cells(row{Type: "secrets", Namespace: "all", State: "forbidden", Blank: true, SyncLag: "0 s"}); !slices.Equal(got, want) {
		t.Errorf("refused:\ngot  %q\nwant %q", got, want)
	}
}

// A failed audit is highlighted. A sync duration of 0 is unknown and not shown.
func TestRowOfFailedAudit(t *testing.T) {
	s := status.Informer{State: status.StateSynced, Kind: kinds.Kind{Resource: "pods", Namespaced: true}}
	s.LastAudit = informer.AuditStatus{Result: informer.AuditError}
	s.WatchOpened = time.Now().Add(-61 * 24 * time.Hour)
	if r := newRow(s); !r.Bad || r.Audit != "error" || r.LastSync != "" || r.Watch != "61 days" || r.WatchOpenedAt != s.WatchOpened.UTC().Format(time.RFC3339) {
		t.Errorf("%+v", r)
	}
	s.LastSync = 2 * time.Second
	if r := newRow(s); r.LastSync != "2.0 s" {
		t.Errorf("%+v", r)
	}
}
