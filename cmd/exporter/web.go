package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/pflag"
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
	audiences      []string
	withoutTLS     bool
	healthAddress  string
}

func registerWeb(flags *pflag.FlagSet) *webFlags {
	f := &webFlags{toolkit: registerToolkit(flags)}
	flags.StringVar(&f.telemetryPath, "web.telemetry-path", web.DefaultTelemetryPath, "`PATH` under which to expose metrics.")
	flags.BoolVar(&f.pprof, "web.enable-pprof", false, "Serve profiles under /debug/pprof/, with the same authentication as other paths.")
	flags.BoolVar(&f.kubernetesAuth, "web.kubernetes-auth", false, "Authenticate and authorize requests with the API server: every path, including probes, requires a bearer token that may get it as a nonResourceURL. Needs TLS (--web.config.file), and --web.health-address for the kubelet.")
	flags.StringArrayVar(&f.audiences, "web.kubernetes-auth-audience", nil, "Accept only tokens for this `AUDIENCE`, such as https://informer-exporter.example.com, which the API server itself rejects. Repeatable. Defaults to the API server's audiences.")
	flags.BoolVar(&f.withoutTLS, "web.kubernetes-auth-without-tls", false, "Allow --web.kubernetes-auth without TLS, behind a proxy that encrypts all connections. Otherwise tokens are sent in clear text.")
	flags.StringVar(&f.healthAddress, "web.health-address", "", "Also serve /livez, /readyz and /healthz on this `ADDRESS`, such as :9959, without authentication and TLS, for the kubelet.")
	return f
}

// registerToolkit adds the flags of exporter-toolkit, which all Prometheus exporters have.
func registerToolkit(flags *pflag.FlagSet) *toolkit.FlagConfig {
	f := &toolkit.FlagConfig{WebListenAddresses: new([]string), WebSystemdSocket: new(bool), WebConfigFile: new(string)}
	if runtime.GOOS == "linux" {
		flags.BoolVar(f.WebSystemdSocket, "web.systemd-socket", false, "Use systemd socket activation listeners instead of port listeners (Linux only).")
	}
	flags.StringArrayVar(f.WebListenAddresses, "web.listen-address", []string{defaultListenAddress}, "`ADDRESS` on which to expose metrics and web interface, such as :9100, [::1]:9100 or vsock://:9100. Repeatable.")
	flags.StringVar(f.WebConfigFile, "web.config.file", "", "Configuration `FILE` that can enable TLS or authentication. See: https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md")
	return f
}

// validate returns an error if the web configuration file is invalid, or does not allow --web.kubernetes-auth.
func (f *webFlags) validate() error {
	path := *f.toolkit.WebConfigFile
	if err := toolkit.Validate(path); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", path, err)
	}
	if !f.kubernetesAuth {
		return nil
	}
	var config struct {
		TLS   map[string]any    `json:"tls_server_config"`
		Users map[string]string `json:"basic_auth_users"`
	}
	var raw []byte
	if path != "" {
		var err error
		if raw, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("--web.config.file: %w", err)
		}
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", path, err)
	}
	if len(config.Users) > 0 {
		return fmt.Errorf("--web.kubernetes-auth: %s has basic_auth_users, but a request carries either a password or a token; remove one of them", path)
	}
	if len(config.TLS) == 0 && !f.withoutTLS {
		return errors.New("--web.kubernetes-auth: without TLS, tokens that also work against the API server are sent in clear text; add tls_server_config to --web.config.file, or set --web.kubernetes-auth-without-tls behind a proxy that encrypts connections")
	}
	return nil
}

// filter returns the authorization of requests by the API server, if enabled, and a function that releases its resources.
func (f *webFlags) filter(config *rest.Config, log *slog.Logger) (protect func(http.Handler) http.Handler, closeIt func(), err error) {
	if !f.kubernetesAuth {
		return func(next http.Handler) http.Handler { return next }, func() {}, nil
	}
	filter, err := kubeauth.New(config, kubeauth.Options{Audiences: f.audiences, Logger: log})
	if err != nil {
		return nil, nil, fmt.Errorf("--web.kubernetes-auth: %w", err)
	}
	return filter.Protect, filter.Close, nil
}

// newServer returns a server with limits on requests. net/http/pprof extends the write timeout for profiles.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ConnState:         newConnections().changed,
		ErrorLog:          slog.NewLogLogger(serverLog{log.Handler()}, slog.LevelWarn),
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
