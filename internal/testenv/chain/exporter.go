package chain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// ExporterConfig returns the path of the exporter's configuration file.
func (c *Chain) ExporterConfig() string { return filepath.Join(c.dir, "exporter.yaml") }

// configureExporter writes the exporter's configuration, which the exporter reloads when it changes.
func (c *Chain) configureExporter(config map[string]any) error {
	content, err := yaml.Marshal(config)
	if err != nil {
		return fmt.Errorf("configuration of the exporter: %w", err)
	}
	// The file is replaced atomically, as in a ConfigMap: the exporter must not read an incomplete file.
	next := c.ExporterConfig() + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.ExporterConfig())
}

// reconfigure changes one field of the exporter's configuration.
func reconfigure(field string, value any) injection {
	return func(_ context.Context, c *Chain) (end, error) {
		config := map[string]any{}
		maps.Copy(config, c.options.Exporter)
		config[field] = value
		restore := func(context.Context) error { return c.configureExporter(c.options.Exporter) }
		return restore, c.configureExporter(config)
	}
}

func killExporter(_ context.Context, c *Chain) (end, error) {
	return c.Exporter.Start, c.Exporter.Kill()
}

// RunCheck runs `informer-exporter check` during the fault, and returns the output of the command and its exit code. For faults of the
// connection, the command uses the kubeconfig of the demo's exporter, and otherwise one that bypasses the proxy. For faults of the
// configuration, it uses the exporter's configuration file.
func (f Fault) RunCheck(ctx context.Context, c *Chain, args ...string) (output string, code int, err error) {
	kubeconfig := c.Kubeconfig
	if f.Check == unreachable {
		kubeconfig = c.ExporterKubeconfig()
		args = append(args, "--timeout=20s") // so that it does not wait longer for a connection that hangs
	}
	args = append([]string{"check", "--kubeconfig=" + kubeconfig}, args...)
	if f.reconfigures {
		args = append(args, "--config.file="+c.ExporterConfig())
	}
	out, err := exec.CommandContext(ctx, c.Exporter.Program(), args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// unreachable is part of the error for an API server that does not respond.
const unreachable = "informer-exporter: discovery"
