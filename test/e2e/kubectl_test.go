package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
)

// parsedCommands is the environment variable with the path of a file. If it is set, kubectl does not run: it parses its
// arguments and appends them to the file.
const parsedCommands = "E2E_PARSED_COMMANDS"

// runAsTool runs the test binary as the program that it was started as: kubectl, a curl that only parses its arguments, or the
// program of TestBornWithTheFault.
func runAsTool() (code int, ok bool) {
	var err error
	parsed := os.Getenv(parsedCommands)
	switch name := filepath.Base(os.Args[0]); {
	case name == "curl" && parsed != "":
		err = awaitFile(parsed) // the server that curl connects to was started in the background
	case os.Getenv(bornAddress) != "":
		err = runBorn()
	case name == "kubectl" && parsed != "":
		err = errors.Join(parseKubectl(os.Args[1:]), appendLine(parsed, strings.Join(os.Args[1:], " ")))
	case name == "kubectl":
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

func awaitFile(path string) error {
	return wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0, nil // kubectl creates the file first
	})
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// shell runs scripts with the test binary as kubectl.
type shell struct {
	env []string
}

// newShell returns a shell with the given tools, which runAsTool knows, before all others on its path.
func newShell(t *testing.T, env []string, tools ...string) *shell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range tools {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// With go test -cover, the tools would print that they need a directory.
	return &shell{env: append([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOCOVERDIR=" + t.TempDir()}, env...)}
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
