package web

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// newSlowReaderTest starts a server with a page of metrics that is larger than the buffers of its connections.
func newSlowReaderTest(t *testing.T) *httptest.Server {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux accepts connections from all addresses of 127.0.0.0/8")
	}
	s := newTestServer(t)
	large := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "large", Help: "Large."}, []string{"value"})
	s.Registry.MustRegister(large)
	for i := range 1000 {
		large.WithLabelValues(fmt.Sprintf("%d%s", i, strings.Repeat("x", 200)))
	}
	server := httptest.NewUnstartedServer(s.Handler())
	server.EnableHTTP2 = true
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			if c, ok := conn.(*tls.Conn); ok {
				conn = c.NetConn()
			}
			_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// scrapeFrom scrapes from a loopback address.
func scrapeFrom(t *testing.T, server *httptest.Server, host string) {
	t.Helper()
	transport := server.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	transport.DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}).DialContext
	client := &http.Client{Transport: transport}
	for range 3 {
		response, err := client.Get(server.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("large{")) {
			t.Fatalf("a scrape from %s: %s, %d bytes, %v", host, response.Status, len(page), err)
		}
	}
}

// Types of HTTP/2 frames.
const (
	frameHeaders, frameReset, frameSettings = 1, 3, 4
	endOfStream, endOfHeaders               = 1, 4
)

// stalled is an HTTP/2 connection with a window of 0: it accepts no body of a response.
type stalled struct{ net.Conn }

func stall(t *testing.T, server *httptest.Server, host string) stalled {
	t.Helper()
	config := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"h2"}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	conn, err := tls.DialWithDialer(dialer, "tcp", server.Listener.Addr().String(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(await.Timeout))
	c := stalled{conn}
	_, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	c.frame(t, frameSettings, 0, 0, []byte{0, 4, 0, 0, 0, 0}) // SETTINGS_INITIAL_WINDOW_SIZE
	return c
}

func (c stalled) frame(t *testing.T, kind, flags byte, stream uint32, payload []byte) {
	t.Helper()
	header := binary.BigEndian.AppendUint32([]byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags}, stream)
	if _, err := c.Write(append(header, payload...)); err != nil {
		t.Fatal(err)
	}
}

// get requests a path on n new streams.
func (c stalled) get(t *testing.T, path string, first, n int) {
	t.Helper()
	headers := append([]byte{0x82, 0x87, 0x04, byte(len(path))}, path...) // :method GET, :scheme https, :path
	headers = append(headers, 0x01, 1, 'x')                               // :authority
	for i := range n {
		c.frame(t, frameHeaders, endOfStream|endOfHeaders, uint32(2*(first+i)+1), headers)
	}
}

// wait reads frames until there were n of a kind.
func (c stalled) wait(t *testing.T, kind byte, n int) {
	t.Helper()
	for n > 0 {
		var header [9]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			t.Fatalf("%d frames are missing: %v", n, err)
		}
		length := int64(header[0])<<16 | int64(binary.BigEndian.Uint16(header[1:]))
		if _, err := io.CopyN(io.Discard, c, length); err != nil {
			t.Fatal(err)
		}
		if header[3] == kind {
			n--
		}
	}
}

// Readers with an HTTP/2 window of 0 do not deny the scrapes of others, even from several hosts and on the same one.
func TestStalledStreams(t *testing.T) {
	server := newSlowReaderTest(t)
	server.StartTLS()
	for host := range 5 {
		c := stall(t, server, fmt.Sprintf("127.0.0.%d", 2+host))
		for first := 0; first < 30; first += maxScrapes / 2 {
			c.get(t, "/metrics", first, maxScrapes/2)
			c.wait(t, frameHeaders, maxScrapes/2) // each has a response, with a status
		}
	}
	scrapeFrom(t, server, "127.0.0.100")
	scrapeFrom(t, server, "127.0.0.2")
}

// Readers that send further requests instead of reading do not deny the scrapes of others.
func TestPipelinedRequests(t *testing.T) {
	server := newSlowReaderTest(t)
	server.Start()
	for i := range 40 {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%5))}}).Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_ = conn.SetDeadline(time.Now().Add(await.Timeout))
		if _, err := io.WriteString(conn, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 50)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1"))); err != nil {
			t.Fatal(err)
		}
	}
	scrapeFrom(t, server, "127.0.0.100")
}

// A response that is not read ends at a deadline.
func TestSendTimeout(t *testing.T) {
	server := newSlowReaderTest(t)
	s := &sender{timeout: time.Millisecond}
	server.Config.Handler = s.buffered(server.Config.Handler)
	server.StartTLS()
	c := stall(t, server, "127.0.0.2")
	c.get(t, "/metrics", 0, 3)
	c.wait(t, frameReset, 3)
	await.True(t, "nothing is sent", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.sending) == 0 && s.bytes == 0
	})
}

// Responses beyond a limit displace the oldest of the host with the most. Others are kept.
func TestSendingLimits(t *testing.T) {
	type canceled = map[string]bool
	s, gone := &sender{}, canceled{}
	begin := func(host string, n, bytes int) *sending {
		r := &sending{host: host, bytes: bytes, cancel: func() { gone[fmt.Sprint(host, "/", n)] = true }}
		s.add(r)
		return r
	}
	expect := func(what string, count, bytes int, names ...string) {
		t.Helper()
		if len(s.sending) != count || s.bytes != bytes || len(gone) != len(names) {
			t.Errorf("%s: %d responses of %d bytes, want %d of %d; canceled %v, want %v", what, len(s.sending), s.bytes, count, bytes, gone, names)
		}
		for _, name := range names {
			if !gone[name] {
				t.Errorf("%s: canceled %v, want %v", what, gone, names)
			}
		}
		clear(gone)
	}
	for n := range maxSendingPerHost {
		begin("a", n, 1)
	}
	expect("a host at its limit", maxSendingPerHost, maxSendingPerHost)
	begin("a", maxSendingPerHost, 1)
	expect("a host beyond its limit", maxSendingPerHost, maxSendingPerHost, "a/0")
	for host := range maxSending - maxSendingPerHost {
		begin(fmt.Sprint("host-", host), 0, 1)
	}
	expect("all hosts at the limit", maxSending, maxSending)
	quick := begin("b", 0, 1)
	expect("one more host", maxSending, maxSending, "a/1")
	s.remove(quick)
	s.remove(quick)
	expect("a response is sent", maxSending-1, maxSending-1)
	begin("b", 1, maxSendingBytes-maxSending+3)
	expect("bytes beyond the limit", maxSending-2, maxSendingBytes, "a/2", "a/3")
	begin("c", 0, 2*maxSendingBytes)
	if len(s.sending) != 1 || s.bytes != 2*maxSendingBytes {
		t.Errorf("%d responses of %d bytes beside one beyond the limit", len(s.sending), s.bytes)
	}
}

// The response of a handler is unchanged, and complete for a client that reads it.
func TestBufferedResponse(t *testing.T) {
	handler := (&sender{timeout: sendTimeout}).buffered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Name", "value")
		if r.URL.Path != "/empty" {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, strings.Repeat("body", 10_000))
		}
	}))
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, c := range []struct {
		method, path string
		status       int
		length       int64
		body         int
	}{
		{http.MethodGet, "/", http.StatusTeapot, 40_000, 40_000},
		{http.MethodHead, "/", http.StatusTeapot, 40_000, 0},
		{http.MethodGet, "/empty", http.StatusOK, 0, 0},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != c.status || response.ContentLength != c.length || len(body) != c.body || response.Header.Get("X-Name") != "value" {
			t.Errorf("%s %s: %s, length %d, %d bytes, %v", c.method, c.path, response.Status, response.ContentLength, len(body), response.Header)
		}
	}
}
