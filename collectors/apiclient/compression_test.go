package apiclient_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const compressedBytes = "k8s_client_compressed_bytes_total{resource=pods}"

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	out := new(bytes.Buffer)
	z := gzip.NewWriter(out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// serve starts a server for HTTP/1.1 or HTTP/2 and returns a configuration of its clients.
func serve(t *testing.T, http2 bool, handler http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if !http2 {
		config.NextProtos = []string{"http/1.1"}
	}
	return config
}

// TestCompressionIsThatOfHTTP covers S25: with CompressedBytes, requests and responses are the same as with net/http alone,
// for each of these responses, and the bytes of compressed lists and watches on the wire are counted.
func TestCompressionIsThatOfHTTP(t *testing.T) {
	text := strings.Repeat("some text ", 20_000)
	whole := compressed(t, text)
	const list = "/api/v1/pods"
	for _, c := range []struct {
		name, method, path string
		header             http.Header
		body               []byte
		plain, length      bool
		disabled           bool
		code               int
		counts             bool
	}{
		{name: "list", path: list, body: whole, counts: true},
		{name: "list with a length", path: list, body: whole, length: true, counts: true},
		{name: "watch", path: list + "?watch=true", body: whole, counts: true},
		{name: "two members", path: list, body: append(bytes.Clone(whole), whole...), counts: true},
		{name: "not compressed", path: list, body: []byte(text), plain: true},
		{name: "cut", path: list, body: whole[:len(whole)/2], counts: true},
		{name: "no gzip", path: list, body: []byte(text), counts: true},
		{name: "garbage behind it", path: list, body: append(bytes.Clone(whole), "text"...), counts: true},
		{name: "empty", path: list, length: true},
		{name: "error", path: list, body: whole, code: http.StatusForbidden},
		{name: "get", path: list + "/p", body: whole},
		{name: "caller asks for gzip", path: list, header: http.Header{"Accept-Encoding": {"gzip"}}, body: whole},
		{name: "caller asks for none", path: list, header: http.Header{"Accept-Encoding": {"identity"}}, body: []byte(text), plain: true},
		{name: "range", path: list, header: http.Header{"Range": {"bytes=0-9"}}, body: whole},
		{name: "HEAD", method: http.MethodHead, path: list, body: whole},
		{name: "compression disabled", path: list, disabled: true, body: whole},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/http2=%v", c.name, http2), func(t *testing.T) {
				config := serve(t, http2, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Asked", fmt.Sprint(r.Proto, r.Header))
					w.Header().Set("Date", "")
					if !c.plain {
						w.Header().Set("Content-Encoding", "GZIP")
					}
					if c.length {
						w.Header().Set("Content-Length", fmt.Sprint(len(c.body)))
					}
					if c.code != 0 {
						w.WriteHeader(c.code)
					}
					_, _ = w.Write(c.body) // the client may have disconnected
				})
				config.DisableCompression = c.disabled
				answer := func(config *rest.Config) string {
					client := must(rest.HTTPClientFor(config))(t)
					defer client.CloseIdleConnections()
					request := must(http.NewRequestWithContext(t.Context(), c.method, config.Host+c.path, http.NoBody))(t)
					request.Header = c.header.Clone()
					if request.Header == nil {
						request.Header = http.Header{}
					}
					before := fmt.Sprint(request.Header)
					response := must(client.Do(request))(t) //nolint:bodyclose // it is closed
					defer response.Body.Close()
					if fmt.Sprint(request.Header) != before || response.Request != request {
						t.Errorf("the request has changed: %v, %v", request.Header, response.Request.Header)
					}
					body, err := io.ReadAll(response.Body)
					return fmt.Sprint(response.Status, response.Header, response.ContentLength, response.Uncompressed, len(body), string(body[:min(20, len(body))]), err)
				}
				obs, registry := observertest.New(t)
				want := answer(config)
				if got := answer(apiclient.WrapConfig(obs, config, apiclient.Options{CompressedBytes: true})); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				count := 0
				if c.counts {
					count = len(c.body)
				}
				if got := metricstest.Take(t, registry)[compressedBytes]; c.name != "no gzip" && got != float64(count) || (got > 0) != c.counts {
					t.Errorf("%v bytes on the wire, want %d", got, count)
				}
			})
		}
	}
}

// TestCompressedWatchIsNotDelayed covers S25: each event of a compressed watch arrives when it is sent, and a watch can be closed
// while it is read, but not read twice at the same time. Wrappers that were set earlier see it decompressed too.
func TestCompressedWatchIsNotDelayed(t *testing.T) {
	events := make(chan string)
	config := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for {
			select {
			case event := <-events:
				_, _ = fmt.Fprintln(z, event) // the client may have disconnected
				_ = z.Flush()
				w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http always implements it
			case <-r.Context().Done():
				return
			}
		}
	})
	uncompressed := false
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return fakeTransport(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			uncompressed = err == nil && response.Uncompressed && r.Header.Get("Accept-Encoding") == ""
			return response, err
		})
	})
	obs, registry := observertest.New(t)
	client := must(rest.HTTPClientFor(apiclient.WrapConfig(obs, config, apiclient.Options{CompressedBytes: true})))(t)
	request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/api/v1/pods?watch=true", http.NoBody))(t)
	go func() { events <- "first" }()
	response := must(client.Do(request))(t) //nolint:bodyclose // it is closed
	defer response.Body.Close()
	if !uncompressed {
		t.Error("a wrapper below WrapConfig saw a compressed watch")
	}
	lines := bufio.NewReader(response.Body)
	if line := must(lines.ReadString('\n'))(t); line != "first\n" {
		t.Errorf("read %q", line)
	}
	before := metricstest.Take(t, registry)[compressedBytes]
	go func() { events <- "second" }()
	if line := must(lines.ReadString('\n'))(t); line != "second\n" {
		t.Errorf("read %q", line)
	}
	if after := metricstest.Take(t, registry)[compressedBytes]; before == 0 || after <= before {
		t.Errorf("%v, then %v bytes on the wire", before, after)
	}
	both := make(chan error)
	for range 2 {
		go func() {
			_, err := response.Body.Read(make([]byte, 100))
			both <- err
		}()
	}
	select {
	case err := <-both:
		if err == nil || err.Error() != "http: concurrent read on response body" {
			t.Errorf("a second read at the same time: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("two reads wait at the same time")
	}
	go func() { events <- "third" }()
	if err := <-both; err != nil {
		t.Errorf("the first of two reads: %v", err)
	}
	reading := make(chan error)
	go func() {
		_, err := lines.ReadString('\n')
		reading <- err
	}()
	response.Body.Close()
	if err := <-reading; err == nil {
		t.Error("a closed watch delivered an event")
	}
	if _, err := response.Body.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
}
