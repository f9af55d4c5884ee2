package web

import (
	"fmt"
	"net/http"
	"strings"
)

// serveLive handles liveness probes. It ignores the API server: a restart would not fix it and would drop caches that are still
// useful.
func serveLive(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") }

// serveReady handles readiness probes. It returns 200 once every informer is synced or refused and at least one is synced,
// or if other shards watch everything. It returns 503 until then, and during shutdown. On failure, the body lists
// the failed checks. With ?verbose it has a line for each informer, which HealthHandler does not serve.
//
// Forbidden and missing resources do not affect readiness: metrics report them. Once ready, the exporter stays ready until
// shutdown: the freshness of caches is a matter for metrics, and a resource that becomes available later or a reloaded
// configuration must not take the others out of service.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	s.reportReady(w, r.URL.Query().Has("verbose"))
}

func (s *Server) reportReady(w http.ResponseWriter, verbose bool) {
	ready, checks := s.Status.Readiness()
	if ready && !verbose {
		plain(w, http.StatusOK, "ok\n")
		return
	}
	status, result := http.StatusOK, "passed"
	if !ready {
		status, result = http.StatusServiceUnavailable, "failed"
	}
	var body strings.Builder
	failed := 0
	for _, c := range checks {
		if verbose || !c.Informer {
			fmt.Fprintln(&body, c)
		} else if !c.OK {
			failed++
		}
	}
	if failed > 0 {
		fmt.Fprintf(&body, "[-]sync failed: %d informers are not synced yet\n", failed)
	}
	fmt.Fprintf(&body, "readyz check %s\n", result)
	plain(w, status, body.String())
}

func plain(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // fails only if the client is gone
}
