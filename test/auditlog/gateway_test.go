package auditlog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// gateway is between one program and the API server. Unlike a proxy of connections, it breaks what the program does about one resource.
type gateway struct {
	*httptest.Server
	resource string

	mu      sync.Mutex
	starved bool
	expired int
	watches map[*passing]struct{}
}

// passing is a watch that passes the gateway.
type passing struct {
	opened time.Time
	target bool
	end    context.CancelFunc
}

// lasting is how long a watch must last so that it is not very short.
const lasting = 1200 * time.Millisecond

// newGateway returns a gateway to the API server, and the configuration of a program that connects through it.
func newGateway(t *testing.T, to *rest.Config, resource string) (*gateway, *rest.Config) {
	t.Helper()
	target, err := url.Parse(to.Host)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(to.CAData)
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = "" },
		FlushInterval: -1,
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, // HTTP/1.1: a connection for each watch
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	g := &gateway{resource: resource, watches: map[*passing]struct{}{}}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, forward) }))
	g.StartTLS()
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	through := rest.CopyConfig(to)
	through.Host = g.URL
	through.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw})
	return g, through
}

func (g *gateway) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	query := r.URL.Query()
	target := r.Method == http.MethodGet && path.Base(r.URL.Path) == g.resource
	if query.Get("watch") == "" || query.Get("watch") == "false" {
		if target && g.isStarved() {
			http.Error(w, "starved", http.StatusServiceUnavailable)
			return
		}
		forward.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p := &passing{opened: time.Now(), target: target, end: cancel}
	switch g.admit(p, query.Get("sendInitialEvents") == "true") {
	case http.StatusGone:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version","reason":"Expired","code":410}`)) // the client may have gone
		return
	case http.StatusServiceUnavailable:
		http.Error(w, "starved", http.StatusServiceUnavailable)
		return
	}
	defer g.leave(p)
	forward.ServeHTTP(w, r.WithContext(ctx))
}

// admit admits a watch with the code 200, or rejects it.
func (g *gateway) admit(p *passing, streaming bool) (code int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case p.target && g.starved:
		return http.StatusServiceUnavailable
	case p.target && !streaming && g.expired > 0:
		g.expired--
		return http.StatusGone
	}
	g.watches[p] = struct{}{}
	return http.StatusOK
}

func (g *gateway) leave(p *passing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.watches, p)
}

func (g *gateway) isStarved() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.starved
}

// steady reports whether the program watches the resource, and no version is about to expire.
func (g *gateway) steady() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.watches {
		if p.target && time.Since(p.opened) > lasting {
			return g.expired == 0
		}
	}
	return false
}

// cut ends the watches of the resource.
func (g *gateway) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.watches {
		if p.target {
			p.end()
			delete(g.watches, p) // it is no longer steady
		}
	}
}

// cutAnother ends the oldest watch of another resource, if there is one: the program opens it again, which shows that it lives.
func (g *gateway) cutAnother() {
	g.mu.Lock()
	defer g.mu.Unlock()
	var oldest *passing
	for p := range g.watches {
		if !p.target && (oldest == nil || p.opened.Before(oldest.opened)) {
			oldest = p
		}
	}
	if oldest != nil {
		oldest.end()
	}
}

// expire answers the next watch that continues from a version with 410 Gone, and ends the one that is open.
func (g *gateway) expire() {
	g.mu.Lock()
	g.expired = 1
	g.mu.Unlock()
	g.cut()
}

// starve rejects all watches and lists of the resource.
func (g *gateway) starve() {
	g.mu.Lock()
	g.starved = true
	g.mu.Unlock()
	g.cut()
}
