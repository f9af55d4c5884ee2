package web

import (
	"net/http"
)

// How many requests are answered at a time, probes and others. More get 503: they would only compete with each other, and
// each of them takes memory. Probes have room of their own, so that whoever asks too much does not get the pod restarted.
const (
	maxRequests = 40
	maxProbes   = 10
)

// securityHeaders are on every answer, unless the web configuration file has its own values for them.
var securityHeaders = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; style-src '" + styleHash + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "deny",
}

// protect stands before everything else.
func protect(next http.Handler) http.Handler {
	probes, others := limit(maxProbes, next), limit(maxRequests, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range securityHeaders {
			if w.Header().Get(name) == "" {
				w.Header().Set(name, value)
			}
		}
		if isProbe(r.URL.Path) {
			probes.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

func isProbe(path string) bool {
	switch path {
	case "/healthz", "/livez", "/readyz":
		return true
	}
	return false
}

// limit answers n requests at a time and turns the others away.
func limit(n int, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		}
	})
}
