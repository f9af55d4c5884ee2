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

// webFlags say where and to whom the exporter serves.
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
	cmd.Flag("web.enable-pprof", "Serve profiles under /debug/pprof/, behind the same authentication as everything else.").
		BoolVar(&f.pprof)
	cmd.Flag("web.kubernetes-auth", "Let the API server decide who may read: every path, probes and profiles included, wants a bearer token whose user may get the path as a nonResourceURL. Use it with TLS (--web.config.file), and with --web.health-address for the kubelet.").
		BoolVar(&f.kubernetesAuth)
	cmd.Flag("web.health-address", "Serve /livez, /readyz and /healthz on this address, too, without authentication or TLS: for the kubelet, which has neither. Off unless given.").
		PlaceHolder(":9959").StringVar(&f.healthAddress)
	return f
}

// validate finds at the start what would otherwise wait for the first request.
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
		return fmt.Errorf("--web.kubernetes-auth: %s has basic_auth_users, and a request has room for a password or a token; choose one of them", path)
	}
	return nil
}

// filter returns what stands before every path: the API server's decision, if that is asked for. The function closes what
// the filter has left open.
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

// newServer returns a server with limits on what a client may send and for how long it may take. pprof extends the
// timeout for what is asked to last.
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

// webServer is a server that is running.
type webServer struct {
	server *http.Server
	// ended gets why the server ended, and is closed then.
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

// startMain serves as the flags of exporter-toolkit say.
func (f *webFlags) startMain(handler http.Handler, log *slog.Logger) *webServer {
	server := newServer(handler, log)
	return start(server, func() error {
		return fmt.Errorf("--web.listen-address: the web server ended: %w", toolkit.ListenAndServe(server, f.toolkit, log))
	})
}

// startHealth serves the probes, if an address is given.
func (f *webFlags) startHealth(handler http.Handler, log *slog.Logger) (*webServer, error) {
	if f.healthAddress == "" {
		if f.kubernetesAuth {
			log.Warn("Probes are not authenticated, and the kubelet has no token", "fix", "set --web.health-address and let the probes ask there")
		}
		return nil, nil
	}
	listener, err := net.Listen("tcp", f.healthAddress)
	if err != nil {
		return nil, fmt.Errorf("--web.health-address: %w", err)
	}
	log.Info("Probes are served without authentication", "address", listener.Addr().String())
	server := newServer(handler, log)
	return start(server, func() error {
		return fmt.Errorf("--web.health-address: the web server ended: %w", server.Serve(listener))
	}), nil
}

// failed gets why the server ended. It never does if there is no server.
func (s *webServer) failed() <-chan error {
	if s == nil {
		return nil
	}
	return s.ended
}

// stop lets requests finish that are being answered, and cuts them off when ctx ends.
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
