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
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// watchDelay is how late events reach a kube-controller-manager behind a delayed watch.
const watchDelay = 2 * time.Minute

// behind are the faults of a kube-controller-manager, which has no library, by the names of their recordings.
var behind = map[string]func(*faultproxy.Proxy){
	"delayed": func(p *faultproxy.Proxy) { p.Delay(watchDelay) },
	"cut":     func(p *faultproxy.Proxy) { p.Cut() },
}

// readOfCaches are the series about the caches of programs without the library, and what they are compared with.
var readOfCaches = recording.Reads{{
	labels.MustNewMatcher(labels.MatchRegexp, model.MetricNameLabel, "informer_store_resource_version|informer_queued_items|k8s_informer_resource_version|.+_stale_sync_skips_total"),
}}

// recordBehind records a healthy exporter and, behind each fault, a kube-controller-manager and a program with a named informer: before
// 1.37, kube-controller-manager does not report the versions of its caches.
func (l *lab) recordBehind(ctx context.Context, p phases, out string) error {
	exporter, err := l.startExporter(ctx, l.plane.Config(), exporterOptions{config: "resources: [configmaps, pods, namespaces, endpointslices.discovery.k8s.io]\nchecks: {freshness: 0s, audit: 0s}\n"})
	if err != nil {
		return err
	}
	if err := os.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "0"); err != nil { // of programs in this process
		return err
	}
	subjects := map[string]*subject{}
	for name, breaks := range behind {
		proxy, err := l.proxy(l.plane.APIServer.Address)
		if err != nil {
			return err
		}
		manager, err := l.startControllerManager(ctx, proxy)
		if err != nil {
			return err
		}
		informers, err := cache.NewInformerName(name)
		if err != nil {
			return err
		}
		_, program, err := l.startProgram(proxy.RESTConfig(l.plane.Config()), func(*program) programOptions { return programOptions{named: informers} })
		if err != nil {
			return err
		}
		subjects[name] = &subject{[]*target{exporter, manager, program}, func(ctx context.Context) error {
			breaks(proxy)
			<-ctx.Done()
			return proxy.Restore()
		}}
	}
	return l.recordSubjects(ctx, subjects, p, readOfCaches, out)
}

// startControllerManager starts a kube-controller-manager that reaches the API server through a proxy. Anyone may read its metrics. Its
// connections have no pings, which would not outlast the delay.
func (l *lab) startControllerManager(ctx context.Context, proxy *faultproxy.Proxy) (*target, error) {
	program, err := stack.Binary(ctx, stack.ControllerManagerProgram, l.log)
	if err != nil {
		return nil, err
	}
	free, err := port.Free()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(l.dir, fmt.Sprint("controller-manager-", free))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	through, direct := filepath.Join(dir, "through"), filepath.Join(dir, "direct")
	if err := errors.Join(stack.WriteKubeconfig(through, proxy.RESTConfig(l.plane.Config())), stack.WriteKubeconfig(direct, l.plane.Config())); err != nil {
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
			"--cert-dir=" + dir, "--leader-elect=false", "--controllers=*,-serviceaccount-token-controller",
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
