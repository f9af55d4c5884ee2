package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// target is a scraped program.
type target struct {
	job, instance string
	// read returns the text of its metrics.
	read func(context.Context) ([]byte, error)
	// start starts it again after stop.
	start func(context.Context) error
	stop  func(context.Context) error
	// replaced reports whether another process has taken the place of the first.
	replaced atomic.Bool
}

// address returns the label instance. A new process has another one: no series of the old process hides that its own begin above 0.
func (t *target) address() string {
	if t.replaced.Load() {
		return "new-" + t.instance
	}
	return t.instance
}

// restart replaces programs with new instances, without their state.
func restart(ctx context.Context, targets []*target) error {
	for _, t := range targets {
		if err := t.stop(ctx); err != nil {
			return err
		}
		t.replaced.Store(true)
		if err := t.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// exporterOptions are the differences between exporters.
type exporterOptions struct {
	// config is its configuration file. The default watches busy, without checks.
	config string
	// env are environment variables, as NAME=value.
	env []string
	// withProgram also starts a program with the same connection: one alone cannot know whether the API server is down.
	withProgram bool
}

// busyConfig watches resources in the namespace with constant writes.
const busyConfig = "resources: [configmaps, pods]\nnamespaces: [" + busy + "]\nchecks: {freshness: 0s, audit: 0s}\n"

// startExporter starts a real exporter with a connection to the API server.
func (l *lab) startExporter(ctx context.Context, config *rest.Config, o exporterOptions) (*target, error) {
	if o.config == "" {
		o.config = busyConfig
	}
	free := port.Free()
	dir := filepath.Join(l.dir, fmt.Sprint("exporter-", free))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	kubeconfig, file := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "exporter.yaml")
	if err := stack.WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(o.config), 0o600); err != nil {
		return nil, err
	}
	url := "http://" + port.Address(free)
	args := append(append([]string{}, o.env...), l.exporter, "serve", "--kubeconfig="+kubeconfig, "--config.file="+file, "--web.listen-address="+port.Address(free))
	server, err := stack.StartCommand(ctx, stack.Command{
		Name: "exporter", Program: l.env, Args: args, Dir: dir, Ready: stack.Answers(url + "/livez"),
	})
	if err != nil {
		return nil, err
	}
	l.onStop(server.Stop)
	return &target{
		job: "informer-exporter", instance: "exporter:9958",
		read:  func(ctx context.Context) ([]byte, error) { return get(ctx, url+"/metrics") },
		start: server.Start, stop: server.Stop,
	}, nil
}

// startBoth starts an exporter and, if its options ask for it, a program.
func (l *lab) startBoth(ctx context.Context, config *rest.Config, o exporterOptions) ([]*target, error) {
	exporter, err := l.startExporter(ctx, config, o)
	if err != nil || !o.withProgram {
		return []*target{exporter}, err
	}
	_, program, err := l.startProgram(config, ordinary)
	return []*target{exporter, program}, err
}

func get(ctx context.Context, url string) ([]byte, error) {
	return getWith(ctx, http.DefaultClient, url)
}

func getWith(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // Prometheus' default
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
