package exporter

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// DefaultTelemetryPath is where metrics are served unless told otherwise.
const DefaultTelemetryPath = "/metrics"

// maxScrapes is how many scrapes are answered at a time. More would only compete with each other; they get 503.
const maxScrapes = 20

// telemetryPath is what a path for metrics may look like. Characters that mean something in a pattern of http.ServeMux
// are not among it.
var telemetryPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func (e *Exporter) newHandler(options Options) (http.Handler, error) {
	paths, err := e.paths(options)
	if err != nil {
		return nil, err
	}
	return newMux(paths), nil
}

// paths returns what is served, by path.
func (e *Exporter) paths(options Options) (map[string]http.Handler, error) {
	if !telemetryPath.MatchString(options.TelemetryPath) {
		return nil, fmt.Errorf("--web.telemetry-path: %q is not a path; write one like %s", options.TelemetryPath, DefaultTelemetryPath)
	}
	landing, err := e.newLanding(options)
	if err != nil {
		return nil, err
	}
	paths := e.probes()
	paths["/{$}"] = landing
	paths[informersPath] = http.HandlerFunc(e.serveInformers)
	if options.Pprof {
		paths["/debug/pprof/"] = http.HandlerFunc(pprof.Index)
		paths["/debug/pprof/cmdline"] = http.HandlerFunc(pprof.Cmdline)
		paths["/debug/pprof/profile"] = http.HandlerFunc(pprof.Profile)
		paths["/debug/pprof/symbol"] = http.HandlerFunc(pprof.Symbol)
		paths["/debug/pprof/trace"] = http.HandlerFunc(pprof.Trace)
	}
	if _, taken := paths[options.TelemetryPath]; taken {
		return nil, fmt.Errorf("--web.telemetry-path: %s is taken; write one like %s", options.TelemetryPath, DefaultTelemetryPath)
	}
	paths[options.TelemetryPath] = e.newMetricsHandler()
	return paths, nil
}

// probes are the paths that the kubelet asks.
func (e *Exporter) probes() map[string]http.Handler {
	return map[string]http.Handler{
		"/healthz": http.HandlerFunc(serveLive),
		"/livez":   http.HandlerFunc(serveLive),
		"/readyz":  http.HandlerFunc(e.serveReady),
	}
}

func newMux(paths map[string]http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	for path, handler := range paths {
		mux.Handle("GET "+path, handler)
	}
	return mux
}

// Handler serves every path of the exporter. The filters stand before all of them, the first one outermost.
func (e *Exporter) Handler(filters ...func(http.Handler) http.Handler) http.Handler {
	handler := e.handler
	for _, filter := range slices.Backward(filters) {
		handler = filter(handler)
	}
	return protect(handler)
}

// HealthHandler serves the paths that the kubelet asks, for an address of their own where it need not authenticate.
func (e *Exporter) HealthHandler() http.Handler { return protect(newMux(e.probes())) }

// newMetricsHandler serves OpenMetrics to whom asks for it, with exemplars, and the text format to all others. It counts
// its own requests and errors. One metric that cannot be collected does not hold back the others.
func (e *Exporter) newMetricsHandler() http.Handler {
	handler := promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{
		Registry:            e.registry,
		ErrorLog:            slog.NewLogLogger(e.log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		EnableOpenMetrics:   true,
		MaxRequestsInFlight: maxScrapes,
	})
	return promhttp.InstrumentMetricHandler(e.registry, handler)
}
