// Package web serves metrics, probes, profiles, the landing page and its data as JSON.
package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// DefaultTelemetryPath is where metrics are served unless told otherwise.
const DefaultTelemetryPath = "/metrics"

// maxScrapes is how many scrapes are answered at a time. More would only compete with each other; they get 503.
const maxScrapes = 20

// telemetryPath is what a path for metrics may look like. Characters that mean something in a pattern of http.ServeMux
// are not among it.
var telemetryPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// webOptions for newServer.
type Options struct {
	// Status is what the pages and probes report.
	Status *status.Reporter
	// Registry is what /metrics serves. The server's own metrics are registered with it.
	Registry *prometheus.Registry
	// Logger is where the server writes.
	Logger *slog.Logger
	// TelemetryPath is where metrics are served.
	TelemetryPath string
	// Pprof serves profiles under /debug/pprof/.
	Pprof bool
}

// server serves every path of the exporter.
type Server struct {
	Options
	handler http.Handler
}

func New(options Options) (*Server, error) {
	s := &Server{Options: options}
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	s.handler = newMux(paths)
	return s, nil
}

// paths returns what is served, by path.
func (s *Server) paths() (map[string]http.Handler, error) {
	if !telemetryPath.MatchString(s.TelemetryPath) {
		return nil, fmt.Errorf("--web.telemetry-path: %q is not a path; write one like %s", s.TelemetryPath, DefaultTelemetryPath)
	}
	landing, err := newLanding(s)
	if err != nil {
		return nil, err
	}
	paths := s.probes()
	paths["/{$}"] = landing
	paths[InformersPath] = http.HandlerFunc(s.serveInformers)
	if s.Pprof {
		paths["/debug/pprof/"] = http.HandlerFunc(pprof.Index)
		paths["/debug/pprof/cmdline"] = http.HandlerFunc(pprof.Cmdline)
		paths["/debug/pprof/profile"] = http.HandlerFunc(pprof.Profile)
		paths["/debug/pprof/symbol"] = http.HandlerFunc(pprof.Symbol)
		paths["/debug/pprof/trace"] = http.HandlerFunc(pprof.Trace)
	}
	if _, taken := paths[s.TelemetryPath]; taken {
		return nil, fmt.Errorf("--web.telemetry-path: %s is taken; write one like %s", s.TelemetryPath, DefaultTelemetryPath)
	}
	paths[s.TelemetryPath] = s.newMetricsHandler()
	return paths, nil
}

// probes are the paths that the kubelet asks.
func (s *Server) probes() map[string]http.Handler {
	return map[string]http.Handler{
		"/healthz": http.HandlerFunc(serveLive),
		"/livez":   http.HandlerFunc(serveLive),
		"/readyz":  http.HandlerFunc(s.serveReady),
	}
}

func newMux(paths map[string]http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	for path, handler := range paths {
		mux.Handle("GET "+path, handler)
	}
	return mux
}

// all serves every path of the exporter. The filters stand before all of them, the first one outermost.
func (s *Server) Handler(filters ...func(http.Handler) http.Handler) http.Handler {
	handler := s.handler
	for _, filter := range slices.Backward(filters) {
		handler = filter(handler)
	}
	return protect(handler)
}

// probesOnly serves the paths that the kubelet asks, for an address of their own where it need not authenticate.
func (s *Server) HealthHandler() http.Handler { return protect(newMux(s.probes())) }

// newMetricsHandler serves OpenMetrics to whom asks for it, with exemplars, and the text format to all others. It counts
// its own requests and errors. One metric that cannot be collected does not hold back the others.
func (s *Server) newMetricsHandler() http.Handler {
	handler := promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{
		Registry:            s.Registry,
		ErrorLog:            slog.NewLogLogger(s.Logger.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: maxScrapes,
	})
	return promhttp.InstrumentMetricHandler(s.Registry, handler)
}
