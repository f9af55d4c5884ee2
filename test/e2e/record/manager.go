package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// startControllerManager starts a kube-controller-manager with a connection to the API server. Anyone may read its metrics. Its
// connections have no pings, which would not outlast a delay. Nodes need no kubelets.
func (l *lab) startControllerManager(ctx context.Context, plane *stack.ControlPlane, config *rest.Config) (*target, error) {
	program, err := stack.Binary(ctx, stack.ControllerManagerProgram, l.log)
	if err != nil {
		return nil, err
	}
	free := port.Free()
	dir := filepath.Join(l.dir, fmt.Sprint("controller-manager-", free))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	through, direct := filepath.Join(dir, "through"), filepath.Join(dir, "direct")
	if err := errors.Join(stack.WriteKubeconfig(through, config), stack.WriteKubeconfig(direct, plane.Config())); err != nil {
		return nil, err
	}
	read := func(path string) func(context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) {
			certificates, err := os.ReadFile(filepath.Join(dir, "kube-controller-manager.crt")) // which it writes itself
			if err != nil {
				return nil, err
			}
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(certificates)
			client := &http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
			}}
			return getWith(ctx, client, "https://"+port.Address(free)+path)
		}
	}
	server, err := stack.StartCommand(ctx, stack.Command{
		Name: "kube-controller-manager", Program: program, Dir: dir, Log: l.log,
		Env: []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=0"},
		Args: []string{
			"--kubeconfig=" + through, "--authentication-kubeconfig=" + direct, "--authorization-kubeconfig=" + direct,
			"--authorization-always-allow-paths=/healthz,/metrics", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", free),
			"--cert-dir=" + dir, "--leader-elect=false", "--controllers=*,-serviceaccount-token-controller,-node-lifecycle-controller",
			"--kube-api-qps=100", "--kube-api-burst=200", // as in a large cluster
		},
		Ready: func(ctx context.Context) error { _, err := read("/healthz")(ctx); return err },
	})
	if err != nil {
		return nil, err
	}
	l.onStop(server.Stop)
	return &target{
		job: "kube-controller-manager", instance: "kube-controller-manager:10257", read: read("/metrics"), start: server.Start, stop: server.Stop,
	}, nil
}

// apiServer returns an API server as a target.
func apiServer(a *stack.APIServer) (*target, error) {
	client, err := rest.HTTPClientFor(a.Config())
	if err != nil {
		return nil, err
	}
	return &target{
		job: "apiserver", instance: "apiserver:6443", start: a.Start, stop: a.Stop,
		read: func(ctx context.Context) ([]byte, error) { return getWith(ctx, client, a.Config().Host+"/metrics") },
	}, nil
}
