package exporter

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"regexp"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// DefaultTelemetryPath is where metrics are served unless told otherwise.
const DefaultTelemetryPath = "/metrics"

// maxScrapes is how many scrapes are answered at a time. More would only compete with each other; they get 503.
const maxScrapes = 40

// telemetryPath is what a path for metrics may look like. Characters that mean something in a pattern of http.ServeMux
// are not among it.
var telemetryPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func (e *Exporter) newHandler(options Options) (http.Handler, error) {
	if !telemetryPath.MatchString(options.TelemetryPath) {
		return nil, fmt.Errorf("--web.telemetry-path: %q is not a path; write one like %s", options.TelemetryPath, DefaultTelemetryPath)
	}
	landing, err := e.newLanding(options)
	if err != nil {
		return nil, err
	}
	paths := map[string]http.Handler{
		"/{$}":     landing,
		"/healthz": http.HandlerFunc(serveLive),
		"/livez":   http.HandlerFunc(serveLive),
		"/readyz":  http.HandlerFunc(e.serveReady),
	}
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

	mux := http.NewServeMux()
	for path, handler := range paths {
		mux.Handle("GET "+path, handler)
	}
	return mux, nil
}

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
