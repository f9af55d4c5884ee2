package exporter

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
)

//go:embed landing.html
var landingHTML string

// landing is the page for people: what is watched and how it is doing. It needs no script and nothing from elsewhere.
type landing struct {
	exporter *Exporter
	template *template.Template
	metrics  string
	pprof    bool
}

// page is what the template shows.
type page struct {
	Name, Version, Server string
	Metrics               string
	Pprof                 bool
	Up                    string
	Ready                 bool
	Synced, Refused       int
	Objects               int
	Rows                  []row
}

// row is one informer.
type row struct {
	Type, Namespace string
	State           string // one of the states below
	Connected       bool
	Objects         int
	Pending         uint64
	SyncLag         string
	Lagging         bool
	LastEvent       string
	LastSync        string
}

// States of a row besides the answers of the API server.
const (
	stateSynced      = "synced"
	stateSyncing     = "syncing"
	stateUnreachable = "unreachable"
)

// noticeableLag is the sync lag that the page draws attention to. It is no objective; alerts have one.
const noticeableLag = time.Second

func (e *Exporter) newLanding(options Options) (*landing, error) {
	tmpl, err := template.New("landing").Parse(landingHTML)
	if err != nil {
		return nil, err
	}
	return &landing{
		exporter: e,
		template: tmpl,
		// Relative, so that the page works behind a proxy that adds a prefix.
		metrics: strings.TrimPrefix(options.TelemetryPath, "/"),
		pprof:   options.Pprof,
	}, nil
}

// ServeHTTP implements http.Handler.
func (l *landing) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	var body bytes.Buffer // so that a failure does not come after half a page
	if err := l.template.Execute(&body, l.page()); err != nil {
		l.exporter.log.Error("The landing page cannot be rendered", "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body.Bytes()) // a browser that has gone needs no page
}

func (l *landing) page() page {
	e := l.exporter
	p := page{Name: Name, Version: Version(), Server: e.server, Metrics: l.metrics, Pprof: l.pprof}
	p.Ready, _ = e.readiness()
	p.Up = short(time.Since(e.started))
	statuses := map[collectors.ID]collectors.InformerStatus{}
	for _, s := range e.observer.Informers() {
		statuses[s.ID] = s
	}
	for _, t := range e.targets.list() {
		r := t.row(statuses[t.id()])
		switch {
		case r.State == stateSynced:
			p.Synced++
		case t.availability.current().refusing():
			p.Refused++
		}
		p.Objects += r.Objects
		p.Rows = append(p.Rows, r)
	}
	return p
}

// row says how a target is doing. What the API server says about it comes before what is in the cache.
func (t *target) row(s collectors.InformerStatus) row {
	r := row{
		Type:      t.kind.Type(),
		Namespace: t.id().Scope(),
		Connected: s.Connected,
		Objects:   s.Objects,
		SyncLag:   short(s.SyncLag),
		Lagging:   s.SyncLag >= noticeableLag,
	}
	for _, h := range s.Handlers {
		r.Pending += h.Pending
	}
	if !s.LastEvent.IsZero() {
		r.LastEvent = short(time.Since(s.LastEvent)) + " ago"
	}
	if s.LastSync > 0 {
		r.LastSync = short(s.LastSync)
	}
	switch now := t.availability.current(); {
	case now.refusing():
		r.State = now.answer
	case now.troubled:
		r.State = stateUnreachable
	case s.Synced:
		r.State = stateSynced
	default:
		r.State = stateSyncing
	}
	return r
}

// short formats a duration with as many digits as a person wants to read.
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
