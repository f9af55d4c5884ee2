package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
}

// restart replaces programs with new instances, without their state.
func restart(ctx context.Context, targets []*target) error {
	for _, t := range targets {
		if err := t.stop(ctx); err != nil {
			return err
		}
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
}

// busyConfig watches resources in the namespace with constant writes.
const busyConfig = "resources: [configmaps, pods]\nnamespaces: [" + busy + "]\nchecks: {freshness: 0s, audit: 0s}\n"

// startExporter starts a real exporter with a connection to the API server.
func (l *lab) startExporter(ctx context.Context, config *rest.Config, o exporterOptions) (*target, error) {
	if o.config == "" {
		o.config = busyConfig
	}
	free, err := port.Free()
	if err != nil {
		return nil, err
	}
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

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // Prometheus' default
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
