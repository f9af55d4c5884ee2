package chain

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
)

// RunCheck runs `exporter check` during the fault, and returns what the command printed and its exit code. It takes the connection of the
// demo's exporter for faults of the connection, and otherwise one that bypasses the proxy; and the exporter's configuration if the fault
// is in it.
func (f Fault) RunCheck(ctx context.Context, c *Chain, args ...string) (output string, code int, err error) {
	kubeconfig := c.Kubeconfig
	if f.Check == unreachable {
		kubeconfig = c.exporterKubeconfig()
		args = append(args, "--timeout=20s") // it waits that long for a connection that hangs
	}
	args = append([]string{"check", "--kubeconfig=" + kubeconfig}, args...)
	if f.reconfigures {
		args = append(args, "--config.file="+c.exporterConfig())
	}
	out, err := exec.CommandContext(ctx, filepath.Join(c.dir, programName("exporter")), args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// unreachable is in the error for an API server that does not answer.
const unreachable = "exporter: discovery"
