package stack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// builder builds one program into the cache.
type builder struct {
	program program
	version string
	source  string // the nested module
	target  string
	log     *slog.Logger
	every   time.Duration // interval between progress messages
}

// binary returns the path of the program in the cache, and builds it if it is missing.
func (b builder) binary(ctx context.Context) (string, error) {
	if isExecutable(b.target) {
		return b.target, nil
	}
	if err := os.MkdirAll(filepath.Dir(b.target), 0o755); err != nil {
		return "", err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if isExecutable(b.target) { // another process has built it
		return b.target, nil
	}
	if err := b.build(ctx); err != nil {
		return "", err
	}
	return b.target, nil
}

func (b builder) lock(ctx context.Context) (unlock func(), err error) {
	started, said := time.Now(), time.Now()
	unlock, err = lock(ctx, filepath.Join(filepath.Dir(b.target), "."+b.program.name+".lock"), func() {
		if time.Since(said) >= b.every {
			said = time.Now()
			b.log.Info("waiting for another process to build the same program", "program", b.program.name, "elapsed", elapsed(started))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("lock for the build of %s: %w", b.program.name, err)
	}
	return unlock, nil
}

// build compiles to a temporary name and renames, so that the program is never incomplete, even after a crash.
func (b builder) build(ctx context.Context) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("cannot build %s without Go in PATH: %w (or set $%s to a directory with the program)", b.program.name, err, assetsVariable)
	}
	temporary, err := os.CreateTemp(filepath.Dir(b.target), "."+b.program.name+".*.tmp")
	if err != nil {
		return err
	}
	temporary.Close()
	defer os.Remove(temporary.Name()) // fails after the rename, as expected

	var output tailBuffer
	cmd := exec.CommandContext(ctx, goTool, b.arguments(temporary.Name())...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 5 * time.Second

	b.log.Info("building "+b.program.name+" "+b.version, "about", b.program.onTwo.String()+" on two cores, once", "target", b.target)
	started := time.Now()
	stop := b.sayEvery(started)
	err = cmd.Run()
	stop()
	if err != nil {
		return fmt.Errorf("building %s %s in %s: %w\n%s", b.program.name, b.version, b.source, err, output.String())
	}
	if err := os.Chmod(temporary.Name(), 0o755); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), b.target); err != nil {
		return err
	}
	b.log.Info("built "+b.program.name+" "+b.version, "elapsed", elapsed(started))
	return nil
}

func (b builder) arguments(output string) []string {
	ldflags := "-s -w"
	if b.program.stamp != nil {
		for _, def := range b.program.stamp(b.version) {
			ldflags += " -X " + def
		}
	}
	// -mod and -buildvcs override GOFLAGS; -trimpath lets clones share the build cache.
	args := []string{"build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags=" + ldflags, "-o", output}
	if b.program.tags != "" {
		args = append(args, "-tags="+b.program.tags)
	}
	return append(args, b.program.pkg)
}

// sayEvery logs the progress at intervals until stop is called.
func (b builder) sayEvery(started time.Time) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(b.every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				b.log.Info("still building "+b.program.name, "elapsed", elapsed(started))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func elapsed(since time.Time) string { return time.Since(since).Round(time.Second).String() }

// tailBuffer keeps the last bytes written to it, because compilers and servers print the cause last.
type tailBuffer struct{ b []byte }

const tailBytes = 4 << 10

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	b := t.b
	if len(b) > tailBytes {
		b = b[len(b)-tailBytes:]
	}
	return strings.TrimSpace(string(b))
}
