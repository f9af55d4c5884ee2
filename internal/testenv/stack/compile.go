package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Compile builds a program of this repository, given by its directory below the root, and returns its path. The program is in bin, so that
// it is linked only if it has changed since another test built it, and has no symbols, which takes a quarter less time.
func Compile(ctx context.Context, dir string, flags ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(root, "bin", "tests"+strings.Join(flags, ""), filepath.Base(dir))
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, program+".lock", func() {}) // go build removes a program before it writes the new one
	if err != nil {
		return "", err
	}
	defer unlock()
	args := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", program}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", cmd.Dir, err, out)
	}
	return program, nil
}
