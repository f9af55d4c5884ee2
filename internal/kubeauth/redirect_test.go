package kubeauth

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// A review is not repeated at an address that the API server redirects to: it contains the token of a scraper.
func TestReviewsAreNotRedirected(t *testing.T) {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // fails only if the client is gone
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	filter, err := New(&rest.Config{Host: server.URL}, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer token-of-a-scraper")
	response := httptest.NewRecorder()
	filter.Protect(http.NotFoundHandler()).ServeHTTP(response, request)
	if n := followed.Load(); n > 0 || response.Code < 400 {
		t.Errorf("%d reviews have followed a redirect, and the status is %d", n, response.Code)
	}
}
