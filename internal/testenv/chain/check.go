package chain

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
)

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
	out, err := exec.CommandContext(ctx, filepath.Join(c.dir, "exporter"), args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// unreachable is part of the error for an API server that does not respond.
const unreachable = "informer-exporter: discovery"
