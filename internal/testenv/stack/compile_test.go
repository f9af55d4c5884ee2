package stack_test

import (
	"os"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Tests that need the same program at the same time get the same file, which is written once.
func TestCompile(t *testing.T) {
	const program = "internal/testenv/cmd/metricdiff"
	path, err := stack.Compile(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(before, 0), 0o755); err != nil { // the linker would remove the last byte
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	var group errgroup.Group
	for range 3 {
		group.Go(func() error {
			_, err := stack.Compile(t.Context(), program)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || len(after) != len(before)+1 {
		t.Errorf("the program was linked again: %v", err)
	}
	if _, err := stack.Compile(t.Context(), "internal/testenv/no-such-program"); err == nil {
		t.Error("a program that does not exist was built")
	}
}
