package faultproxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
)

// Etcd is a proxy between an API server and etcd, without TLS, that can withhold the events of watches while every other request
// passes: etcd answers reads, and the API server's watch cache is frozen (kubernetes/kubernetes#97294). It is safe for concurrent use.
type Etcd struct {
	// URL is the address for --etcd-servers.
	URL    string
	server *httptest.Server

	mu   sync.Mutex
	open chan struct{} // closed while events pass
}

// StartEtcd listens on a free loopback port and forwards to the client URL of etcd.
func StartEtcd(target string) (*Etcd, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("faultproxy: target: %w", err)
	}
	e := &Etcd{open: make(chan struct{})}
	close(e.open)
	var plain http.Protocols // gRPC without TLS
	plain.SetUnencryptedHTTP2(true)
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	e.server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     &http.Transport{Protocols: &plain},
		FlushInterval: -1, // each message at the moment that it arrives
		ErrorLog:      silent,
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path == "/etcdserverpb.Watch/Watch" {
				r.Body = &gated{ReadCloser: r.Body, proxy: e, done: r.Request.Context().Done()}
			}
			return nil
		},
	})
	e.server.Config.Protocols, e.server.Config.ErrorLog = &plain, silent
	e.server.Start()
	e.URL = e.server.URL
	return e, nil
}

// Freeze withholds the events of all watches until Thaw, which delivers them.
func (e *Etcd) Freeze() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.open:
		e.open = make(chan struct{})
	default: // is frozen
	}
}

// Thaw ends Freeze.
func (e *Etcd) Thaw() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.open:
	default:
		close(e.open)
	}
}

// Close ends all connections.
func (e *Etcd) Close() {
	e.Thaw()
	_ = e.server.Config.Close() // unlike the next line, it does not wait for the API server to end its watches
	e.server.Close()
}

// gated is the body of a watch.
type gated struct {
	io.ReadCloser
	proxy *Etcd
	done  <-chan struct{}
}

// Read waits while events are withheld: also those that arrived before.
func (g *gated) Read(to []byte) (int, error) {
	n, err := g.ReadCloser.Read(to)
	g.proxy.mu.Lock()
	open := g.proxy.open
	g.proxy.mu.Unlock()
	select {
	case <-open:
	case <-g.done:
	}
	return n, err
}
