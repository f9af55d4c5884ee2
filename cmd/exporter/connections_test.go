package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// A host has a limited number of open connections, and gets new ones when it closes some.
func TestConnectionsAreLimited(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	// answers opens a connection and reports whether the server responds on it.
	answers := func() (net.Conn, bool) {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return conn, false
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return conn, false
		}
		_ = response.Body.Close()
		return conn, true
	}
	first, ok := answers()
	for n := 2; n <= maxConnectionsPerHost && ok; n++ {
		if _, ok = answers(); !ok {
			t.Fatalf("connection %d is closed", n)
		}
	}
	if _, ok := answers(); ok {
		t.Error("a connection above the limit is served")
	}
	_ = first.Close()
	await.True(t, "room for a connection", func() bool {
		_, ok := answers()
		return ok
	})
}

// address is a connection from a host.
type address struct {
	net.Conn
	host string
}

func (a *address) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(a.host), Port: 1} }

// Hosts with many connections leave room for others.
func TestConnectionsAreReserved(t *testing.T) {
	c := newConnections()
	admitted := 0
	for n := range 10 * maxConnectionsPerHost {
		if c.admit(&address{host: fmt.Sprintf("10.0.0.%d", n%10)}) {
			admitted++
		}
	}
	if admitted != maxConnections-reservedConnections || !c.admit(&address{host: "10.0.0.11"}) {
		t.Errorf("admitted %d connections from ten hosts, or none from another", admitted)
	}
}

// Connections beyond the limits are not logged.
func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	server := newServer(nil, slog.New(slog.NewTextHandler(&out, nil)))
	server.ErrorLog.Printf("http: TLS handshake error from 10.0.0.1:1: %v", &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed})
	server.ErrorLog.Print("http: superfluous call")
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `level=WARN msg="http: superfluous call"`) {
		t.Errorf("got %q, want the second line", text)
	}
}

// Garbage on the port for TLS is logged in the configured format, and only as often as the limit allows.
func TestGarbageInsteadOfTLS(t *testing.T) {
	var out output
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config := registerLogging(flags, &out)
	if err := flags.Parse([]string{"--log.format=json"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = newServer(http.NotFoundHandler(), newLogger(config))
	server.StartTLS()
	const flood = 5 * untrusted.LogBurst
	for range flood {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(await.Timeout))
		_, _ = io.WriteString(conn, "garbage\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the server has closed it
		_ = conn.Close()
	}
	out.wait(t, `"suppressed":`, "\n")
	server.Close()
	text := out.String()
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is not JSON", line)
		}
	}
	if n := strings.Count(text, "TLS handshake error"); n < untrusted.LogBurst || n > 2*untrusted.LogBurst {
		t.Errorf("%d of %d lines", n, flood)
	}
}

// Errors that end the program are limited, and cannot garble the terminal.
func TestMessageOfLongErrors(t *testing.T) {
	text := message(errors.Join(errors.New("first \x1b[31m\u202Eline"), errors.New(strings.Repeat("x", 10<<20))))
	if len(text) > 1200 || !strings.HasPrefix(text, "first [31mline\nxxx") {
		t.Errorf("%d bytes: %.100q", len(text), text)
	}
	if text := message(errors.New(strings.Repeat("x\n", 1<<20))); len(text) > 1200 {
		t.Errorf("%d bytes of many lines", len(text))
	}
}
