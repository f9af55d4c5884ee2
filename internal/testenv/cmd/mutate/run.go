package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// result is the outcome of a mutant.
type result string

const (
	killed      result = "killed"
	timedOut    result = "timed out" // twice, the second time with patience times the limit
	survived    result = "survived"
	equivalent  result = "equivalent" // survived, and one of equivalents
	notCompiled result = "not compiled"
)

const (
	// patience is the factor by which the second run of tests that timed out may take longer: on a busy machine, one timeout
	// proves nothing.
	patience = 4
	// memory is the memory limit of the tests in MiB: a change may make them allocate without end.
	memory = 2048
)

// errTimeout is returned for tests that exceeded their limit.
var errTimeout = errors.New("timed out")

// runner runs the tests of a package with one changed file.
type runner struct {
	*target
	dir string
	// limits are the timeouts of the tests: five times their duration, but at least 10 seconds and at most a minute, or twice
	// their duration if that is longer.
	limits []time.Duration
}

// newRunner runs the tests on the unchanged code, where they must pass.
func newRunner(ctx context.Context, p *target) (*runner, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	r := &runner{target: p, dir: dir}
	for _, tested := range p.tested {
		if err := r.compile(ctx, tested); err != nil {
			return nil, err
		}
		started := time.Now()
		if err := r.test(ctx, tested, 5*time.Minute); err != nil {
			return nil, fmt.Errorf("the tests of %s fail without a change: %w", tested, err)
		}
		took := time.Since(started)
		r.limits = append(r.limits, max(2*took, min(time.Minute, max(10*time.Second, 5*took))))
	}
	return r, nil
}

func (r *runner) close() { _ = os.RemoveAll(r.dir) }

// try runs the tests with a mutant.
func (r *runner) try(ctx context.Context, m mutant) result {
	changed, overlay := filepath.Join(r.dir, "changed.go"), filepath.Join(r.dir, "overlay.json")
	content, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err == nil {
		err = errors.Join(os.WriteFile(changed, m.text(), 0o600), os.WriteFile(overlay, content, 0o600))
	}
	if err != nil {
		panic(err) // a full disk
	}
	for i, tested := range r.tested {
		if r.compile(ctx, tested, "-overlay", overlay) != nil {
			return notCompiled
		}
		err := r.test(ctx, tested, r.limits[i])
		if errors.Is(err, errTimeout) {
			err = r.test(ctx, tested, patience*r.limits[i])
		}
		switch {
		case errors.Is(err, errTimeout):
			return timedOut
		case err != nil:
			return killed
		}
	}
	return survived
}

func (r *runner) binary() string { return filepath.Join(r.dir, "test") }

// directory returns the directory of a package.
func (r *runner) directory(tested string) string {
	return filepath.Join(r.root, strings.TrimPrefix(tested, r.module))
}

// compile builds the tests of a package.
func (r *runner) compile(ctx context.Context, tested string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", r.binary()}, flags...)
	c := exec.CommandContext(ctx, "go", append(args, ".")...)
	c.Dir = r.directory(tested) // which may be in a nested module
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// test runs the fast tests until the first failure, with a limit of time and memory.
func (r *runner) test(ctx context.Context, tested string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, "sh",
		"-c", `ulimit -v "$1"; shift; exec "$@"`, "sh", strconv.Itoa(4*memory<<10), // Go reserves more address space than it uses
		r.binary(), "-test.short", "-test.failfast", "-test.timeout=0") // the context ends them
	c.Dir = r.directory(tested)
	c.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(memory)+"MiB")
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errTimeout
	default:
		return fmt.Errorf("%w: %s", err, out[max(0, len(out)-2000):])
	}
}
