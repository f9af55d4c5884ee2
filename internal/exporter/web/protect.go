package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// Limits of concurrent requests, so that they cannot exhaust memory. A host gets at most half of each limit. Excess requests get 503.
// Probes have their own limit, so that other requests cannot cause a restart of the pod. Profiles have their own limit, because they
// may take minutes.
const (
	maxRequests = 40
	maxProbes   = 10
	maxProfiles = 4
)

const profilesPath = "/debug/pprof/"

// maxProfileSeconds is the longest duration of a profile, so that long profiles do not occupy all of maxProfiles.
const maxProfileSeconds = 120

// securityHeaders are set on every response, unless the web configuration file sets them.
var securityHeaders = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; style-src '" + styleHash + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "deny",
}

// protect adds security headers and limits concurrent requests. A request counts until its handler returns. Its
// response is sent after that, except for profiles, which may be large.
func protect(next http.Handler) http.Handler {
	s := &sender{timeout: sendTimeout}
	probes, profiles, others := s.buffered(limit(maxProbes, next)), limit(maxProfiles, brief(next)), s.buffered(limit(maxRequests, next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range securityHeaders {
			if w.Header().Get(name) == "" {
				w.Header().Set(name, value)
			}
		}
		switch {
		case isProbe(r.URL.Path):
			probes.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, profilesPath):
			profiles.ServeHTTP(w, r)
		default:
			others.ServeHTTP(w, r)
		}
	})
}

// brief rejects profiles that would take too long. Values that are not numbers are left to the handlers of net/http/pprof. The body
// of a request is not read: clients are not authenticated yet.
func brief(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seconds, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64); err == nil && !(seconds <= maxProfileSeconds) {
			http.Error(w, fmt.Sprintf("seconds must be at most %d", maxProfileSeconds), http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isProbe(path string) bool { return path == "/healthz" || path == "/livez" || path == "/readyz" }

// limit serves n requests concurrently, at most half of them for one host, and rejects others.
func limit(n int, next http.Handler) http.Handler {
	slots := &slots{free: n, perHost: n / 2, hosts: map[string]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := untrusted.Host(r.RemoteAddr)
		if !slots.take(host) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many concurrent requests", http.StatusServiceUnavailable)
			return
		}
		defer slots.release(host)
		next.ServeHTTP(w, r)
	})
}

// slots limits concurrent requests in total and by host. It is safe for concurrent use.
type slots struct {
	perHost int

	mu    sync.Mutex
	free  int
	hosts map[string]int // slots in use
}

func (s *slots) take(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || s.hosts[host] == s.perHost {
		return false
	}
	s.free--
	s.hosts[host]++
	return true
}

func (s *slots) release(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.hosts[host]--; s.hosts[host] == 0 {
		delete(s.hosts, host)
	}
}
