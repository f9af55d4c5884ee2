package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/exporter/web"
	"github.com/informer-exporter/informer-exporter/internal/kubeauth"
)

const defaultListenAddress = ":9958"

// webFlags configure the web servers.
type webFlags struct {
	toolkit        *toolkit.FlagConfig
	telemetryPath  string
	pprof          bool
	kubernetesAuth bool
	healthAddress  string
}

func registerWeb(cmd *kingpin.CmdClause) *webFlags {
	f := &webFlags{toolkit: webflag.AddFlags(cmd, defaultListenAddress)}
	cmd.Flag("web.telemetry-path", "Path under which to expose metrics.").
		Default(web.DefaultTelemetryPath).StringVar(&f.telemetryPath)
	cmd.Flag("web.enable-pprof", "Serve profiles under /debug/pprof/, with the same authentication as other paths.").
		BoolVar(&f.pprof)
	cmd.Flag("web.kubernetes-auth", "Authenticate and authorize requests with the API server: every path, including probes, requires a bearer token with permission to get the path as a nonResourceURL. Use it with TLS (--web.config.file), and with --web.health-address for the kubelet.").
		BoolVar(&f.kubernetesAuth)
	cmd.Flag("web.health-address", "Also serve /livez, /readyz and /healthz on this address, without authentication and TLS, for the kubelet. Disabled by default.").
		PlaceHolder(":9959").StringVar(&f.healthAddress)
	return f
}

// validate detects errors at startup that would otherwise fail the first request.
func (f *webFlags) validate() error {
	path := *f.toolkit.WebConfigFile
	if err := toolkit.Validate(path); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", path, err)
	}
	if !f.kubernetesAuth || path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--web.config.file: %w", err)
	}
	var config struct {
		Users map[string]string `json:"basic_auth_users"`
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", path, err)
	}
	if len(config.Users) > 0 {
		return fmt.Errorf("--web.kubernetes-auth: %s has basic_auth_users, but a request carries either a password or a token; remove one of them", path)
	}
	return nil
}

// filter returns the authorization of requests by the API server, if enabled, and a function that releases its resources.
func (f *webFlags) filter(config *rest.Config, log *slog.Logger) (protect func(http.Handler) http.Handler, closeIt func(), err error) {
	if !f.kubernetesAuth {
		return func(next http.Handler) http.Handler { return next }, func() {}, nil
	}
	filter, err := kubeauth.New(config, log)
	if err != nil {
		return nil, nil, fmt.Errorf("--web.kubernetes-auth: %w", err)
	}
	return filter.Protect, filter.Close, nil
}

// newServer returns a server with limits on requests. pprof extends the write timeout for profiles.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// webServer is a running server.
type webServer struct {
	server *http.Server
	// ended receives the server's error and is then closed.
	ended chan error
}

func start(server *http.Server, serve func() error) *webServer {
	s := &webServer{server: server, ended: make(chan error, 1)}
	go func() {
		defer close(s.ended)
		s.ended <- serve()
	}()
	return s
}

// startMain serves with the flags of exporter-toolkit.
func (f *webFlags) startMain(handler http.Handler, log *slog.Logger) *webServer {
	server := newServer(handler, log)
	return start(server, func() error {
		return fmt.Errorf("--web.listen-address: web server failed: %w", toolkit.ListenAndServe(server, f.toolkit, log))
	})
}

// startHealth serves the probes if an address is set.
func (f *webFlags) startHealth(handler http.Handler, log *slog.Logger) (*webServer, error) {
	if f.healthAddress == "" {
		if f.kubernetesAuth {
			log.Warn("probes require authentication, but the kubelet has no token", "fix", "set --web.health-address and use its port in the probes")
		}
		return nil, nil
	}
	listener, err := net.Listen("tcp", f.healthAddress)
	if err != nil {
		return nil, fmt.Errorf("--web.health-address: %w", err)
	}
	log.Info("serving probes without authentication", "address", listener.Addr().String())
	server := newServer(handler, log)
	return start(server, func() error {
		return fmt.Errorf("--web.health-address: web server failed: %w", server.Serve(listener))
	}), nil
}

// failed receives the server's error. It is nil without a server.
func (s *webServer) failed() <-chan error {
	if s == nil {
		return nil
	}
	return s.ended
}

// stop waits for active requests and cancels them when ctx ends.
func (s *webServer) stop(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	for range s.ended {
	}
	return err
}
