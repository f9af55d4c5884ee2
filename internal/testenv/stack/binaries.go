package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	assetsVariable = "KUBEBUILDER_ASSETS"
	modulePath     = "github.com/informer-exporter/informer-exporter"
)

// Binary returns the path of a program, one of Programs.
//
// It looks in $KUBEBUILDER_ASSETS, where programs are used regardless of their version, and in PATH, where a program is used
// only if it reports the pinned minor version: an installed etcd or Prometheus may be years old. Otherwise, the program is
// built from its pinned module into the user's cache directory, once for all clones of this repository; log reports progress.
// A nil log is silent.
//
// It is safe for concurrent use by several processes: one builds, the others wait for it.
func Binary(ctx context.Context, name string, log *slog.Logger) (string, error) {
	p, err := programByName(name)
	if err != nil {
		return "", err
	}
	path, b, err := p.find(ctx, orSilent(log))
	if err != nil {
		return "", fmt.Errorf("%s is not in $%s and cannot be built: %w", name, assetsVariable, err)
	}
	if path != "" {
		return path, nil
	}
	return b.binary(ctx)
}

// find returns the path of the program outside of the cache. If the path is empty, the builder has the program.
func (p program) find(ctx context.Context, log *slog.Logger) (path string, b builder, err error) {
	if assets := os.Getenv(assetsVariable); assets != "" {
		if path = filepath.Join(assets, p.name); isExecutable(path) {
			return path, b, nil
		}
	}
	if b, err = p.builder(log); err != nil {
		return "", b, err
	}
	return p.onPath(ctx, b.version, log), b, nil
}

// APIServerBinary returns the path of the kube-apiserver of a minor version such as 1.35, from the cache or built into it. A nil
// log is silent. tools/servers has a module for each minor version other than the pinned one.
//
// To run tests with it, set $KUBEBUILDER_ASSETS to its directory.
func APIServerBinary(ctx context.Context, minor string, log *slog.Logger) (string, error) {
	p, err := programByName(APIServerProgram)
	if err != nil {
		return "", err
	}
	pinned := p.dir
	for _, p.dir = range []string{pinned, pinned + "-" + minor} {
		if b, err := p.builder(orSilent(log)); err == nil && sameMinor(b.version, minor+".0") {
			return b.binary(ctx)
		}
	}
	return "", fmt.Errorf("no module in tools/servers for the API server %s", minor)
}

func orSilent(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// builder returns the builder of the pinned version.
func (p program) builder(log *slog.Logger) (b builder, err error) {
	root, err := Root()
	if err != nil {
		return b, err
	}
	source := filepath.Join(root, "tools", "servers", p.dir)
	version, err := p.moduleVersion(source)
	if err != nil {
		return b, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return b, fmt.Errorf("no cache directory: %w (set $HOME or $XDG_CACHE_HOME)", err)
	}
	build := fmt.Sprintf("%s-%s-%s-%s", p.dir, version, runtime.GOOS, runtime.GOARCH)
	target := filepath.Join(cache, "informer-exporter", "servers", build, p.name)
	return builder{program: p, version: version, source: source, target: target, log: log, every: 15 * time.Second}, nil
}

func (p program) onPath(ctx context.Context, version string, log *slog.Logger) string {
	path, err := exec.LookPath(p.name)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	want := p.reported(version)
	if err != nil || !sameMinor(string(out), want) {
		log.Info("ignoring program in PATH: not the pinned minor version", "program", path, "pinned", want)
		return ""
	}
	return path
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Root returns the root of this repository: above this source file or, with -trimpath, above the working directory.
func Root() (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if root, err := rootAbove(filepath.Dir(file)); err == nil {
			return root, nil
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return rootAbove(wd)
}

func rootAbove(start string) (string, error) {
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err == nil && strings.Contains("\n"+string(content), "\nmodule "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no clone of %s at or above %s: run inside one, or set $%s to a directory with the programs", modulePath, start, assetsVariable)
		}
	}
}
