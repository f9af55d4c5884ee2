package stack

import (
	"context"
	"fmt"
	"os/exec"
)

// Compile builds the program in a directory, which may be in another module. Without symbols, linking takes two thirds of the time.
func Compile(ctx context.Context, dir, output string, flags ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", output}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", dir, err, out)
	}
	return nil
}
