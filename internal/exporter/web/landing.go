package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// page is the data of the page.
type page struct {
	Name, Version, Server string
	Metrics, API          string
	Pprof                 bool
	Up                    string
	Ready                 bool
	Leader                string // yes, no, or empty without an election
	Synced, Refused       int
	Late, Different       int
	Objects               int
	Columns               []header
	Informers             []status.Informer
}

// header is the heading of a column.
type header struct {
	Title   string
	Numeric bool
	Sorted  string // the value of aria-sort, empty if the table is not sorted by this column
	Link    string // sorts by this column, or reverses the order
}

// serveLanding serves the landing page: all informers and their status. It has no scripts and loads no other files. ?sort=objects
// sorts the table by a column, ?sort=objects&desc in descending order.
func (s *Server) serveLanding(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = markup.Execute(w, s.page(query.Get("sort"), query.Has("desc"))) // an error means that the client has disconnected
}

func (s *Server) page(sortBy string, descending bool) page {
	e := s.Status
	// The links are relative, so that the page works behind a proxy with a path prefix.
	p := page{
		Name: e.Name, Version: buildinfo.Version(), Server: e.Server,
		Metrics: strings.TrimPrefix(s.TelemetryPath, "/"), API: strings.TrimPrefix(InformersPath, "/"), Pprof: s.Pprof,
	}
	p.Ready, _ = e.Readiness()
	if leading := e.Leading(); leading != nil {
		p.Leader = map[bool]string{true: "yes", false: "no"}[*leading]
	}
	p.Up = short(time.Since(e.Started))
	p.Informers = e.Informers()
	p.Columns = arrange(p.Informers, sortBy, descending)
	for _, s := range p.Informers {
		switch {
		case s.Refused:
			p.Refused++
		case s.State == status.StateSynced:
			p.Synced++
		}
		if s.Lagging() {
			p.Late++
		}
		if s.Inconsistent() {
			p.Different++
		}
		p.Objects += s.Objects
	}
	return p
}

// column is a column of the table.
type column struct {
	key, title string
	numeric    bool // sorted in descending order first
	compare    func(a, b status.Informer) int
}

var columns = []column{
	{"resource", "Resource", false, status.ByName},
	{"namespace", "Namespace", false, func(a, b status.Informer) int { return cmp.Compare(a.ID.Namespace, b.ID.Namespace) }},
	{"state", "State", false, func(a, b status.Informer) int { return cmp.Compare(a.Rank(), b.Rank()) }},
	{"objects", "Objects", true, func(a, b status.Informer) int { return cmp.Compare(a.Objects, b.Objects) }},
	{"lag", "Sync lag", true, func(a, b status.Informer) int { return cmp.Compare(a.SyncLag, b.SyncLag) }},
	{"pending", "Pending events", true, func(a, b status.Informer) int { return cmp.Compare(a.Pending, b.Pending) }},
	{"event", "Last event", true, func(a, b status.Informer) int { return b.LastEvent.Compare(a.LastEvent) }},
	{"watch", "Watch age", true, func(a, b status.Informer) int { return b.WatchOpened.Compare(a.WatchOpened) }},
	{"relists", "Relists", true, func(a, b status.Informer) int { return cmp.Compare(a.Relists, b.Relists) }},
	{"sync", "Last sync duration", true, func(a, b status.Informer) int { return cmp.Compare(a.LastSync, b.LastSync) }},
	{"audit", "Last audit", false, func(a, b status.Informer) int { return cmp.Compare(auditRank(a), auditRank(b)) }},
}

// defaultSort lists the informers with problems first.
const defaultSort = "state"

// auditRank orders audit results by the attention that they need.
func auditRank(s status.Informer) int {
	return slices.Index([]string{informer.AuditDifferent, informer.AuditError, informer.AuditSkipped, informer.AuditConsistent, ""}, s.LastAudit.Result)
}

// arrange sorts the informers by a column, or by the default if it does not exist, and returns the headings.
func arrange(states []status.Informer, sortBy string, descending bool) []header {
	if !slices.ContainsFunc(columns, func(c column) bool { return c.key == sortBy }) {
		sortBy, descending = defaultSort, false
	}
	var headers []header
	for _, c := range columns {
		h := header{Title: c.title, Numeric: c.numeric}
		next := c.numeric // the link sorts in descending order
		if c.key == sortBy {
			next = !descending
			h.Sorted = map[bool]string{false: "ascending", true: "descending"}[descending]
			slices.SortStableFunc(states, func(a, b status.Informer) int {
				order := c.compare(a, b)
				if descending {
					order = -order
				}
				return cmp.Or(order, status.ByName(a, b))
			})
		}
		h.Link = "?sort=" + url.QueryEscape(c.key)
		if next {
			h.Link += "&desc"
		}
		headers = append(headers, h)
	}
	return headers
}

// short formats a duration with at most two units.
func short(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
}
