package e2e_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
)

// runAsTool runs the test binary as the program that it was started as: kubectl, or the program of TestBornWithTheFault.
func runAsTool() (code int, ok bool) {
	var err error
	switch {
	case os.Getenv(bornAddress) != "":
		err = runBorn()
	case filepath.Base(os.Args[0]) == "kubectl":
		err = cmd.NewDefaultKubectlCommand().Execute()
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// parseKubectl returns an error if kubectl has no such command or flag.
func parseKubectl(args []string) error {
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}})
	command, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := command.ParseFlags(rest); err != nil {
		return fmt.Errorf("%s: %w", command.CommandPath(), err)
	}
	if len(command.Commands()) > 0 { // kubectl rollout nonsense prints help
		return fmt.Errorf("%s has no command %q", command.CommandPath(), rest)
	}
	return command.ValidateArgs(command.Flags().Args())
}

// shell runs scripts.
type shell struct {
	env []string
}

// newShell returns a shell with the tools in a directory before all others on its path.
func newShell(t *testing.T, tools string, env ...string) *shell {
	t.Helper()
	// With go test -cover, the tools would print that they need a directory.
	return &shell{env: append([]string{"PATH=" + tools + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOCOVERDIR=" + t.TempDir()}, env...)}
}

// kubectlDir returns a directory in which the test binary is kubectl.
func kubectlDir(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a script in an empty directory, and fails for variables that are not set.
func (s *shell) run(t *testing.T, script string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs strings.Builder
	c := exec.CommandContext(t.Context(), "sh", "-uc", script)
	c.Dir, c.Env, c.Stdout, c.Stderr = t.TempDir(), s.env, &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}
