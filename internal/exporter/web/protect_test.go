package web

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// newTestServer returns a server of an exporter that watches nothing.
func newTestServer(t *testing.T) *Server {
	t.Helper()
	registry := prometheus.NewRegistry()
	observer, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	status := &status.Reporter{Observer: observer, Set: informers.NewSet(nil), Leading: func() *bool { return nil }}
	s, err := New(Options{Status: status, Registry: registry, Logger: slog.New(slog.DiscardHandler), TelemetryPath: DefaultTelemetryPath, Pprof: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everyPath returns the registered paths, profiles included, and some unregistered ones.
func everyPath(t *testing.T, s *Server) []string {
	t.Helper()
	paths, err := s.paths()
	if err != nil {
		t.Fatal(err)
	}
	list := []string{"/nope", "/debug/pprof/heap", "//metrics", "/metrics/"}
	for path := range paths {
		list = append(list, strings.TrimSuffix(path, "{$}"))
	}
	if len(list) < 14 {
		t.Fatalf("only %v", list)
	}
	return list
}

// Filters apply to every path, the first before the second.
func TestFilters(t *testing.T) {
	s := newTestServer(t)
	deny := func(status int) func(http.Handler) http.Handler {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		}
	}
	handler := s.Handler(deny(http.StatusTeapot), deny(http.StatusForbidden))
	for _, path := range everyPath(t, s) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions} {
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, httptest.NewRequest(method, path, http.NoBody))
			if response.Code != http.StatusTeapot {
				t.Errorf("%s %s: %d, the first filter was not called", method, path, response.Code)
			}
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := newTestServer(t)
	for _, path := range everyPath(t, s) {
		if strings.HasSuffix(path, "/profile") || strings.HasSuffix(path, "/trace") {
			continue // they take too long
		}
		response := httptest.NewRecorder()
		s.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		for name := range securityHeaders {
			if got := response.Header().Get(name); got == "" {
				t.Errorf("%s has no %s", path, name)
			}
		}
	}
	// Headers of the web configuration file take precedence.
	response := httptest.NewRecorder()
	response.Header().Set("X-Frame-Options", "sameorigin")
	s.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/livez", http.NoBody))
	if got := response.Header().Values("X-Frame-Options"); len(got) != 1 || got[0] != "sameorigin" {
		t.Errorf("X-Frame-Options is %v", got)
	}
}

// The address for probes serves only probes (O1).
func TestHealthHandler(t *testing.T) {
	s := newTestServer(t)
	open := map[string]int{"/livez": 200, "/healthz": 200, "/readyz": 503}
	for _, path := range everyPath(t, s) {
		want := open[path]
		if want == 0 {
			want = http.StatusNotFound
		}
		response := httptest.NewRecorder()
		s.HealthHandler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if path == "//metrics" {
			want = response.Code // a redirect to an unknown path
		}
		if response.Code != want {
			t.Errorf("%s: %d, want %d", path, response.Code, want)
		}
	}
}

// A profile that would take too long is rejected, and the response names the limit.
func TestLongProfiles(t *testing.T) {
	handler := protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for target, want := range map[string]int{
		"/debug/pprof/heap?seconds=100000":  http.StatusBadRequest,
		"/debug/pprof/profile?seconds=121":  http.StatusBadRequest,
		"/debug/pprof/trace?seconds=120.5":  http.StatusBadRequest,
		"/debug/pprof/trace?seconds=NaN":    http.StatusBadRequest,
		"/debug/pprof/profile?seconds=120":  http.StatusNoContent,
		"/debug/pprof/heap":                 http.StatusNoContent,
		"/debug/pprof/heap?seconds=unknown": http.StatusNoContent,
		"/metrics?seconds=100000":           http.StatusNoContent,
	} {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		if response.Code != want || want == http.StatusBadRequest && !strings.Contains(response.Body.String(), "at most 120") {
			t.Errorf("%s: %d %s, want %d", target, response.Code, response.Body, want)
		}
	}
}

// unread fails the test if it is read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the body is read")
	return 0, io.EOF
}

// The form of a request is not read: before authentication, it could fill memory and disk.
func TestProfileForms(t *testing.T) {
	handler := protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }))
	for _, contentType := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		request := httptest.NewRequest(http.MethodPost, "/debug/pprof/profile", unread{t})
		request.Header.Set("Content-Type", contentType)
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		if response.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", contentType, response.Code)
		}
	}
}

// Concurrent requests above the limit are rejected, on every path, as are those of a host above half of it; probes have their own
// limit.
func TestRequestLimits(t *testing.T) {
	arrived, release := make(chan struct{}, 2*maxRequests), make(chan struct{})
	handler := protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	askFrom := func(host, path string) *httptest.ResponseRecorder {
		response, request := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
		request.RemoteAddr = net.JoinHostPort(host, "1")
		handler.ServeHTTP(response, request)
		return response
	}
	ask := func(path string) *httptest.ResponseRecorder { return askFrom("10.0.0.3", path) }
	var wg sync.WaitGroup
	hold := func(n int, path string) {
		for _, host := range []string{"10.0.0.1", "10.0.0.2"} {
			for range n / 2 {
				wg.Go(func() { askFrom(host, path) })
				<-arrived
			}
			if response := askFrom(host, path); response.Code != http.StatusServiceUnavailable {
				t.Errorf("one more of a host, %s: %d, want 503", path, response.Code)
			}
		}
	}
	hold(maxProfiles, "/debug/pprof/heap")
	if response := ask("/debug/pprof/goroutine"); response.Code != http.StatusServiceUnavailable {
		t.Errorf("one profile too many: %d, want 503", response.Code)
	}
	hold(maxRequests, "/metrics") // profiles do not count toward the limit of scrapes
	for _, path := range []string{"/metrics", "/", "/nope"} {
		if response := ask(path); response.Code != http.StatusServiceUnavailable || response.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d, want 503", path, response.Code)
		}
	}
	hold(maxProbes, "/readyz")
	if response := ask("/livez"); response.Code != http.StatusServiceUnavailable {
		t.Errorf("one probe too many: %d, want 503", response.Code)
	}
	close(release)
	wg.Wait()
	if response := ask("/metrics"); response.Code != http.StatusOK {
		t.Errorf("afterwards: %d, want 200", response.Code)
	}
}
