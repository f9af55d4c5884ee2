package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// gate is an HTTP server in front of an API server. It forwards requests as the administrator, or responds to
// them itself. It can write into open watches, end them, and drop their events.
type gate struct {
	server *http.Server
	url    string
	// foreign replaces resource versions with strings that are not numbers, as in some aggregated APIs.
	foreign bool

	mu      sync.Mutex
	instead answer
	lost    string
	streams map[*stream]bool
}

func newGate(config *rest.Config) (*gate, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{url: "http://" + l.Addr().String(), streams: map[*stream]bool{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Accept", strings.ReplaceAll(r.In.Header.Get("Accept"), "vnd.kubernetes.protobuf", "json")) // because JSON can be modified line by line
			r.Out.Header.Del("Accept-Encoding")
			if g.foreign {
				r.Out.URL.RawQuery = native.ReplaceAllString(r.Out.URL.RawQuery, "resourceVersion=$1")
			}
		},
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: g.respond,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // aborted watches
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	g.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.mu.Lock()
			instead := g.instead
			g.mu.Unlock()
			if instead == nil || !instead(w, r) {
				proxy.ServeHTTP(w, r)
			}
		}),
	}
	go func() {
		if err := g.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	return g, nil
}

// config returns the configuration for clients of the gate. They need no credentials.
func (g *gate) config() *rest.Config { return &rest.Config{Host: g.url, QPS: 50, Burst: 100} }

// answerWith replaces responses of the API server until it is called with nil.
func (g *gate) answerWith(a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.instead = a
}

// lose drops every later event that contains a text.
func (g *gate) lose(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = text
}

// send writes a line into every open watch.
func (g *gate) send(text string) {
	for _, s := range g.open() {
		s.line([]byte(text + "\n"))
	}
}

// end ends every open watch in an orderly way.
func (g *gate) end() {
	for _, s := range g.open() {
		s.end()
	}
}

func (g *gate) open() []*stream {
	g.mu.Lock()
	defer g.mu.Unlock()
	var open []*stream
	for s := range g.streams {
		open = append(open, s)
	}
	return open
}

var (
	number = regexp.MustCompile(`"resourceVersion":"([0-9]+)"`)
	native = regexp.MustCompile(`resourceVersion=rev-([0-9]+)-x`)
)

// respond forwards a response of the API server line by line.
func (g *gate) respond(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	s := newStream(resp.Body, func(line []byte) []byte {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.lost != "" && bytes.Contains(line, []byte(g.lost)) {
			return nil
		}
		if g.foreign {
			return number.ReplaceAll(line, []byte(`"resourceVersion":"rev-$1-x"`))
		}
		return line
	})
	resp.Body = s
	if g.foreign {
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	if q := resp.Request.URL.Query(); q.Get("watch") == "" || isFreshnessCheck(resp.Request) {
		return nil // not a watch of an informer
	}
	g.mu.Lock()
	g.streams[s] = true
	g.mu.Unlock()
	s.closed = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.streams, s)
	}
	return nil
}
