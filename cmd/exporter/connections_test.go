package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
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
