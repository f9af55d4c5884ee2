package stack

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake writes a program that prints a version.
func fake(t *testing.T, dir, name, version string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+version+"'\n"), mode); err != nil {
		t.Fatal(err)
	}
}

// TestLookup never builds: its cache directory has the programs.
func TestLookup(t *testing.T) {
	const pinned, other = "etcd Version: 3.6.99", "etcd Version: 3.4.20"
	for _, tc := range []struct {
		name         string
		assets, path string // version in each place; empty for no program
		assetsMode   fs.FileMode
		want         string
	}{
		{name: "nowhere", want: "cache"},
		{name: "assets with any version", assets: other, assetsMode: 0o755, path: pinned, want: "assets"},
		{name: "assets that are not executable", assets: pinned, assetsMode: 0o644, want: "cache"},
		{name: "PATH with the pinned minor version", path: pinned, want: "path"},
		{name: "PATH with another version", path: other, want: "cache"},
		{name: "PATH with a program that prints no version", path: "hello", want: "cache"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			dirs := map[string]string{}
			for _, d := range []string{"assets", "path"} {
				dirs[d] = filepath.Join(root, d)
				if err := os.Mkdir(dirs[d], 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("KUBEBUILDER_ASSETS", dirs["assets"])
			t.Setenv("PATH", dirs["path"])
			t.Setenv("HOME", root)
			t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
			cached, err := cachePath(EtcdProgram)
			if err != nil {
				t.Fatal(err)
			}
			dirs["cache"] = filepath.Dir(cached)
			if err := os.MkdirAll(dirs["cache"], 0o755); err != nil {
				t.Fatal(err)
			}
			fake(t, dirs["cache"], EtcdProgram, pinned, 0o755)
			if tc.assets != "" {
				fake(t, dirs["assets"], EtcdProgram, tc.assets, tc.assetsMode)
			}
			if tc.path != "" {
				fake(t, dirs["path"], EtcdProgram, tc.path, 0o755)
			}
			got, err := Binary(t.Context(), EtcdProgram, nil)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(got) != dirs[tc.want] {
				t.Errorf("got %s, want it from %s", got, tc.want)
			}
		})
	}
}

// cachePath returns the path at which Binary caches a program.
func cachePath(name string) (string, error) {
	p, err := programByName(name)
	if err != nil {
		return "", err
	}
	b, err := p.builder(nil)
	return b.target, err
}

func TestUnknownProgram(t *testing.T) {
	_, err := Binary(t.Context(), "kubelet", nil)
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("the error should list the programs: %v", err)
	}
}

func TestEveryProgramIsPinned(t *testing.T) {
	for _, p := range programs {
		b, err := p.builder(nil)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if !minorVersion.MatchString(b.version) {
			t.Errorf("%s: version %q", p.name, b.version)
		}
		goMod, err := os.ReadFile(filepath.Join(b.source, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(goMod), p.pkg+"\n") {
			t.Errorf("%s: %s is not a tool of %s", p.name, p.pkg, p.dir)
		}
	}
}

func TestPrometheusRelease(t *testing.T) {
	for module, want := range map[string]string{
		"v0.315.0": "v3.15.0", "v0.301.2": "v3.1.2", "v0.300.0": "v3.0.0", "v0.315.0-rc.1": "v3.15.0-rc.1", "v0.55.1": "v0.55.1", "v3.15.0": "v3.15.0",
	} {
		if got := prometheusRelease(module); got != want {
			t.Errorf("%s: got %s, want %s", module, got, want)
		}
	}
}

func TestSourceIsFoundAboveTheWorkingDirectory(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "test", "e2e")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	// A nested module above the working directory is not the root, although its path begins with the root's.
	for dir, module := range map[string]string{below: modulePath + "/test/e2e", root: modulePath} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+module+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := rootAbove(below); err != nil || got != root {
		t.Errorf("got %s, %v; want %s", got, err, root)
	}
	if _, err := rootAbove(t.TempDir()); err == nil || !strings.Contains(err.Error(), assetsVariable) {
		t.Errorf("outside of a clone the error should name the fix: %v", err)
	}
}

func source(t *testing.T, main string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/prog\n\ngo 1.26.0\n", "main.go": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestBuildOnce requests one program from several callers, which must be compiled once and never be seen incomplete.
func TestBuildOnce(t *testing.T) {
	var log syncBuffer
	b := builder{
		program: program{name: "prog", pkg: "example.com/prog", stamp: func(v string) []string { return []string{"main.version=" + v} }},
		version: "v1.2.3",
		source:  source(t, "package main\n\nvar version string\n\nfunc main() { println(version) }\n"),
		target:  filepath.Join(t.TempDir(), "cache", "prog"),
		log:     slog.New(slog.NewTextHandler(&log, nil)),
		every:   10 * time.Millisecond,
	}
	if err := os.Mkdir(filepath.Dir(b.target), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := b.lock(t.Context()) // so that they overlap, however fast the build is
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if path, err := b.binary(t.Context()); err != nil || !isExecutable(path) {
				t.Errorf("%q, %v", path, err)
			}
		})
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(log.String(), "waiting for another process") && time.Now().Before(end); {
		time.Sleep(b.every)
	}
	unlock()
	wg.Wait()
	if n := strings.Count(log.String(), `msg="building prog v1.2.3"`); n != 1 {
		t.Errorf("built %d times, want once:\n%s", n, log.String())
	}
	for _, line := range []string{"still building prog", "waiting for another process", "built prog v1.2.3"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("no progress message contains %q", line)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(b.target), "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	proc, err := startProcess(Command{Name: "prog", Program: b.target, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	<-proc.done
	if out := logTail(proc.cmd.Stdout.(*os.File).Name()); !strings.Contains(out, "v1.2.3") {
		t.Errorf("the version is not stamped: %q", out)
	}
}

func TestBuildFailureShowsTheCompiler(t *testing.T) {
	b := builder{
		program: program{name: "prog", pkg: "example.com/prog"},
		source:  source(t, "package main\n\nfunc main() { undefinedThing() }\n"),
		target:  filepath.Join(t.TempDir(), "prog"),
		log:     slog.New(slog.DiscardHandler),
		every:   time.Hour,
	}
	if _, err := b.binary(t.Context()); err == nil || !strings.Contains(err.Error(), "undefined: undefinedThing") {
		t.Errorf("the error should include the compiler's output: %v", err)
	}
	if _, err := os.Stat(b.target); err == nil {
		t.Error("a failed build left a program behind")
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	b := builder{
		program: program{name: "prog"}, target: filepath.Join(t.TempDir(), "prog"),
		log: slog.New(slog.DiscardHandler), every: time.Hour,
	}
	unlock, err := b.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, fmt.Errorf("long enough"))
	defer cancel()
	if _, err := b.lock(ctx); err == nil || !strings.Contains(err.Error(), "long enough") {
		t.Errorf("a second lock: %v", err)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
