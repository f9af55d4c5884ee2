// Package web serves metrics, probes, profiles, the landing page and its data as JSON.
package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"path"
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// DefaultTelemetryPath is the default path of metrics.
const DefaultTelemetryPath = "/metrics"

// maxScrapes is the limit of concurrent scrapes.
const maxScrapes = 20

// telemetryPath matches valid paths for metrics. They have no characters with a meaning in patterns of http.ServeMux.
var telemetryPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// NewRegistry returns a registry with the metrics of the process and of its build.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}), buildinfo.NewCollector(),
	)
	return registry
}

// Options for New.
type Options struct {
	// Status is the source of pages and probes.
	Status *status.Reporter
	// Registry is served at the telemetry path. The server's own metrics are registered with it.
	Registry *prometheus.Registry
	// Logger receives the server's log messages.
	Logger *slog.Logger
	// TelemetryPath is the path of metrics.
	TelemetryPath string
	// Pprof enables /debug/pprof/.
	Pprof bool
}

// Server serves all paths of the exporter.
type Server struct {
	Options
	handler http.Handler
}

// New returns a server. It fails if the telemetry path is invalid or in use.
func New(options Options) (*Server, error) {
	s := &Server{Options: options}
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	s.handler = newMux(paths)
	return s, nil
}

// paths returns the handlers by path.
func (s *Server) paths() (map[string]http.Handler, error) {
	paths := probes(s.serveReady)
	paths["/{$}"] = http.HandlerFunc(s.serveLanding)
	paths[InformersPath] = http.HandlerFunc(s.serveInformers)
	if s.Pprof {
		paths["/debug/pprof/"] = http.HandlerFunc(pprof.Index)
		paths["/debug/pprof/cmdline"] = http.HandlerFunc(pprof.Cmdline)
		paths["/debug/pprof/profile"] = http.HandlerFunc(pprof.Profile)
		paths["/debug/pprof/symbol"] = http.HandlerFunc(pprof.Symbol)
		paths["/debug/pprof/trace"] = http.HandlerFunc(pprof.Trace)
	}
	return paths, s.addMetrics(paths)
}

// addMetrics adds the telemetry path.
func (s *Server) addMetrics(paths map[string]http.Handler) error {
	if !telemetryPath.MatchString(s.TelemetryPath) || path.Clean(s.TelemetryPath) != s.TelemetryPath {
		return fmt.Errorf("--web.telemetry-path: %q is not a path; write one like %s", s.TelemetryPath, DefaultTelemetryPath)
	}
	if _, taken := paths[s.TelemetryPath]; taken {
		return fmt.Errorf("--web.telemetry-path: %s is in use; write another one, such as %s", s.TelemetryPath, DefaultTelemetryPath)
	}
	paths[s.TelemetryPath] = s.newMetricsHandler()
	return nil
}

// Plain returns a handler of metrics and probes for a role without informers, which is ready as soon as it serves, and one of the probes
// alone. Status and Pprof of the options are not used.
func Plain(options Options) (all, health http.Handler, err error) {
	s := &Server{Options: options}
	paths := probes(serveLive)
	health = protect(newMux(paths))
	if err := s.addMetrics(paths); err != nil {
		return nil, nil, err
	}
	return protect(newMux(paths)), health, nil
}

// probes returns the handlers of the kubelet's probes by path.
func probes(ready http.HandlerFunc) map[string]http.Handler {
	return map[string]http.Handler{"/healthz": http.HandlerFunc(serveLive), "/livez": http.HandlerFunc(serveLive), "/readyz": ready}
}

func newMux(paths map[string]http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	for path, handler := range paths {
		mux.Handle("GET "+path, handler)
	}
	return mux
}

// Handler serves all paths behind filters, the first of which is outermost.
func (s *Server) Handler(filters ...func(http.Handler) http.Handler) http.Handler {
	handler := s.handler
	for _, filter := range slices.Backward(filters) {
		handler = filter(handler)
	}
	return protect(handler)
}

// HealthHandler serves only the probes, without authorization: they name no resources or namespaces.
func (s *Server) HealthHandler() http.Handler {
	return protect(newMux(probes(func(w http.ResponseWriter, _ *http.Request) { s.reportReady(w, false) })))
}

// newMetricsHandler returns a handler that serves OpenMetrics with exemplars to clients that accept it, and the text format to
// others. It counts its requests and errors. A metric that cannot be collected does not affect the others.
func (s *Server) newMetricsHandler() http.Handler {
	handler := promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{
		Registry:           s.Registry,
		ErrorLog:           slog.NewLogLogger(s.Logger.Handler(), slog.LevelError),
		ErrorHandling:      promhttp.ContinueOnError,
		EnableOpenMetrics:  true,
		DisableCompression: true,
	})
	return promhttp.InstrumentMetricHandler(s.Registry, limit(maxScrapes, compressed(handler)))
}
