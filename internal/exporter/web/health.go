package web

import (
	"fmt"
	"net/http"
	"strings"
)

// serveLive answers liveness probes. It knows nothing of the API server: restarting the exporter would not bring that
// one back, and would throw away caches that are still useful.
func serveLive(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

// serveReady answers readiness probes: 200 once every target is synced or refused and at least one is synced, or nothing falls
// to this shard, 503 before and during shutdown. With ?verbose, or if it fails, there is a line for each target.
//
// A kind that is forbidden or missing does not count against readiness, because what reports it is the exporter's
// metrics. Once ready stays ready: whether caches are fresh is for metrics to say, too, and a kind that becomes
// available later must not take the others out of service while it syncs, nor a configuration that asks for other kinds.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	ready, checks := s.Status.Readiness()
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

func plain(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a probe that has hung up needs no answer
}
