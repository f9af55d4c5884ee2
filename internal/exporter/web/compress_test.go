package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// Only clients that accept gzip get compressed responses, with the same text and status.
func TestCompressed(t *testing.T) {
	text := strings.Repeat("metric 1\n", 1000)
	handler := compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(text))) // of the text without compression
		_, _ = io.WriteString(w, text)
	}))
	for accept, want := range map[string]bool{
		"gzip": true, "deflate, GZIP ;q=0.5": true, "zstd,gzip": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip;q=x": false, "gzipped": false,
	} {
		for path, expected := range map[string]string{"/": text, "/busy": "busy\n"} {
			request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			request.Header.Set("Accept-Encoding", accept)
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			var body io.Reader = response.Body
			if got := response.Header().Get("Content-Encoding") == "gzip"; got != want {
				t.Fatalf("%q: compressed: %v", accept, got)
			} else if got {
				unpacked, err := gzip.NewReader(body)
				if err != nil {
					t.Fatal(err)
				}
				body = unpacked
			}
			all, err := io.ReadAll(body)
			if err != nil || string(all) != expected || (path == "/busy") != (response.Code == http.StatusServiceUnavailable) {
				t.Errorf("%q: status %d, %d bytes, error %v", accept, response.Code, len(all), err)
			}
			if length := response.Header().Get("Content-Length"); want && length != "" {
				t.Errorf("%q: Content-Length %s of a compressed response", accept, length)
			}
			if response.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%q: Vary is %q", accept, response.Header().Get("Vary"))
			}
		}
	}
}
