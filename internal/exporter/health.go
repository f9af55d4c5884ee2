package exporter

import (
	"fmt"
	"net/http"
	"strings"
)

// serveLive answers liveness probes. It knows nothing of the API server: restarting the exporter would not bring that
// one back, and would throw away caches that are still useful.
func serveLive(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

// check is one line of /readyz?verbose.
type check struct {
	name string
	ok   bool
	note string
}

// String is the line, in the form that the API server's own /readyz has.
func (c check) String() string {
	switch {
	case !c.ok:
		return fmt.Sprintf("[-]%s failed: %s", c.name, c.note)
	case c.note != "":
		return fmt.Sprintf("[+]%s skipped: %s", c.name, c.note)
	default:
		return fmt.Sprintf("[+]%s ok", c.name)
	}
}

// serveReady answers readiness probes: 200 once every target is synced or refused and at least one is synced, or nothing falls
// to this shard, 503 before and during shutdown. With ?verbose, or if it fails, there is a line for each target.
//
// A kind that is forbidden or missing does not count against readiness, because what reports it is the exporter's
// metrics. Once ready stays ready: whether caches are fresh is for metrics to say, too, and a kind that becomes
// available later must not take the others out of service while it syncs, nor a configuration that asks for other kinds.
func (e *Exporter) serveReady(w http.ResponseWriter, r *http.Request) {
	ready, checks := e.readiness()
	if ready && !r.URL.Query().Has("verbose") {
		plain(w, http.StatusOK, "ok\n")
		return
	}
	status, result := http.StatusOK, "passed"
	if !ready {
		status, result = http.StatusServiceUnavailable, "failed"
	}
	var body strings.Builder
	for _, c := range checks {
		fmt.Fprintln(&body, c)
	}
	fmt.Fprintf(&body, "readyz check %s\n", result)
	plain(w, status, body.String())
}

// readiness evaluates every check.
func (e *Exporter) readiness() (ready bool, checks []check) {
	synced, passed := 0, true
	targets := e.targets.list()
	for _, t := range targets {
		c := check{name: t.name(), ok: true}
		switch now := t.availability.current(); {
		case t.informer.HasSynced():
			synced++
		case now.refusing():
			c.note = now.answer
		case now.refused || e.ready.Load():
			c.note = "not synced yet, but it became available late"
		default:
			c.ok, c.note = false, "not synced yet"
		}
		passed = passed && c.ok
		checks = append(checks, c)
	}
	if !e.follower.done() {
		passed = false
		checks = append(checks, check{name: "discovery", note: "the API server has not told yet what there is to watch"})
	}
	if synced == 0 && !e.ready.Load() && (len(targets) > 0 || !e.shard.partial()) {
		passed = false
		checks = append(checks, check{name: "informers", note: "none is synced"})
	}
	if passed {
		e.ready.Store(true)
	}
	if e.draining.Load() {
		return false, append(checks, check{name: "shutdown", note: "shutting down"})
	}
	return passed, checks
}

func plain(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a probe that has hung up needs no answer
}
