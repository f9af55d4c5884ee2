package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Limits of concurrent requests, so that they cannot exhaust memory. Excess requests get 503. Probes have their own limit, so that
// other requests cannot cause a restart of the pod. Profiles have their own limit, because they may take minutes.
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

// protect adds security headers and limits concurrent requests.
func protect(next http.Handler) http.Handler {
	probes, profiles, others := limit(maxProbes, next), limit(maxProfiles, brief(next)), limit(maxRequests, next)
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

func isProbe(path string) bool {
	switch path {
	case "/healthz", "/livez", "/readyz":
		return true
	}
	return false
}

// limit serves n requests concurrently and rejects others.
func limit(n int, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many concurrent requests", http.StatusServiceUnavailable)
		}
	})
}
