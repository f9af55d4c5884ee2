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
	notCovered  result = "not covered"
	notCompiled result = "not compiled"
)

// patience is the factor by which the second run of tests that timed out may take longer: on a busy machine, one timeout
// proves nothing.
const patience = 4

// errTimeout is returned for tests that exceeded their limit.
var errTimeout = errors.New("timed out")

// runner runs the tests of a package with one changed file.
type runner struct {
	options
	*target
	dir string
	// limits are the timeouts of the tests: five times their duration, but at least 10 seconds and at most options.timeout.
	// If twice their duration is longer, that is the timeout.
	limits []time.Duration
	// blocks are the blocks of each file, covered or not.
	blocks map[string][]block
}

// block is a block of statements of a coverage profile.
type block struct {
	from, to position
	covered  bool
}

// position is a line and a column, in bytes.
type position [2]int

func (p position) before(q position) bool { return p[0] < q[0] || p[0] == q[0] && p[1] < q[1] }

// newRunner runs the tests on the unchanged code, where they must pass, and records their coverage.
func newRunner(ctx context.Context, p *target, o options) (*runner, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	r := &runner{options: o, target: p, dir: dir, blocks: map[string][]block{}}
	for _, tested := range p.tested {
		if err := r.compile(ctx, tested, "-cover", "-coverpkg="+p.path); err != nil {
			return nil, err
		}
		profile := filepath.Join(dir, "cover")
		started := time.Now()
		if err := r.test(ctx, tested, 5*o.timeout, "-test.coverprofile="+profile); err != nil {
			return nil, fmt.Errorf("the tests of %s fail without a change: %w", tested, err)
		}
		took := time.Since(started)
		r.limits = append(r.limits, max(2*took, min(o.timeout, max(10*time.Second, 5*took))))
		if err := r.read(profile); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *runner) close() { _ = os.RemoveAll(r.dir) }

// read reads a coverage profile: path/file.go:line.column,line.column statements count.
func (r *runner) read(profile string) error {
	raw, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		var b block
		var statements, count int
		name, at, ok := strings.Cut(strings.TrimSpace(line), ".go:")
		if n, err := fmt.Sscanf(at, "%d.%d,%d.%d %d %d", &b.from[0], &b.from[1], &b.to[0], &b.to[1], &statements, &count); !ok || n != 6 || err != nil {
			continue // the first line
		}
		b.covered = count > 0
		file := filepath.Base(name) + ".go"
		r.blocks[file] = append(r.blocks[file], b)
	}
	return nil
}

// covers reports whether a test runs the code at a position. Positions outside of blocks, such as declarations, count as
// covered.
func (r *runner) covers(file string, at position) bool {
	inside := false
	for _, b := range r.blocks[filepath.Base(file)] {
		if !at.before(b.from) && at.before(b.to) {
			inside = true
			if b.covered {
				return true
			}
		}
	}
	return !inside
}

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
	if !r.covers(m.file, m.position()) {
		if exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", os.DevNull, r.path).Run() != nil {
			return notCompiled
		}
		return notCovered
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
func (r *runner) test(ctx context.Context, tested string, limit time.Duration, flags ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append([]string{
		"-c", `ulimit -v "$1"; shift; exec "$@"`, "sh", strconv.Itoa(4 * r.memory << 10), // Go reserves more address space than it uses
		r.binary(), "-test.short", "-test.failfast", "-test.timeout=0", // the context ends them
	}, flags...)
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir = r.directory(tested)
	c.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(r.memory)+"MiB")
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
