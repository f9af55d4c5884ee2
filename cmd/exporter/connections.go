package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// Limits of open connections, which take memory even if they send nothing. Prometheus has one or two.
const (
	maxConnections        = 500
	maxConnectionsPerHost = 100
	// reservedConnections are for hosts with fewer than fewConnections, so that a few hosts cannot use up all connections.
	reservedConnections = 50
	fewConnections      = 5
	// maxStreams limits the requests of an HTTP/2 connection, which take memory even if they are rejected. net/http's default is 250.
	maxStreams = 40
)

// connections closes connections beyond the limits as they are accepted. It is safe for concurrent use.
type connections struct {
	mu    sync.Mutex
	hosts map[net.Conn]string // of the open connections
	open  map[string]int      // by host
}

func newConnections() *connections {
	return &connections{hosts: map[net.Conn]string{}, open: map[string]int{}}
}

// changed is the ConnState callback of an http.Server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.admit(conn) {
			_ = conn.Close() // the server notices when it reads
		}
	case http.StateClosed, http.StateHijacked:
		c.forget(conn)
	}
}

func (c *connections) admit(conn net.Conn) bool {
	host := untrusted.Host(conn.RemoteAddr().String())
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := maxConnections
	if c.open[host] >= fewConnections {
		limit -= reservedConnections
	}
	if len(c.hosts) >= limit || c.open[host] >= maxConnectionsPerHost {
		return false
	}
	c.hosts[conn] = host
	c.open[host]++
	return true
}

// serverLog passes on the messages of an http.Server, except those about connections that were closed because of the limits:
// with TLS, each of them would be logged as a failed handshake.
type serverLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l serverLog) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, net.ErrClosed.Error()) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

func (c *connections) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	host, counted := c.hosts[conn]
	if !counted {
		return
	}
	delete(c.hosts, conn)
	if c.open[host]--; c.open[host] == 0 {
		delete(c.open, host)
	}
}
