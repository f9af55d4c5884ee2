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
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if path := inAssets(name); path != "" {
		return path, nil
	}
	servers, err := serversDir()
	if err != nil {
		return "", fmt.Errorf("%s is not in $%s and cannot be built: %w", name, assetsVariable, err)
	}
	version, err := p.moduleVersion(servers)
	if err != nil {
		return "", fmt.Errorf("the version of %s: %w", name, err)
	}
	if path := onPath(ctx, p, version, log); path != "" {
		return path, nil
	}
	return p.built(ctx, servers, version, log)
}

// APIServerBinary returns the path of the kube-apiserver of a minor version such as 1.35, from the cache or built into it. A nil
// log is silent. tools/servers has a module for each minor version other than the pinned one.
//
// To run tests with it, set $KUBEBUILDER_ASSETS to its directory.
func APIServerBinary(ctx context.Context, minor string, log *slog.Logger) (string, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p, err := programByName(APIServerProgram)
	if err != nil {
		return "", err
	}
	servers, err := serversDir()
	if err != nil {
		return "", err
	}
	pinned, err := p.moduleVersion(servers)
	if err != nil {
		return "", err
	}
	if !sameMinor(pinned, minor+".0") {
		p.dir += "-" + minor
	}
	version, err := p.moduleVersion(servers)
	if err != nil {
		return "", fmt.Errorf("no module for the API server %s: %w", minor, err)
	}
	if !sameMinor(version, minor+".0") {
		return "", fmt.Errorf("tools/servers/%s pins %s", p.dir, version)
	}
	return p.built(ctx, servers, version, log)
}

// built returns the path of the program in the cache, and builds it if it is missing.
func (p program) built(ctx context.Context, servers, version string, log *slog.Logger) (string, error) {
	target, err := p.cachePath(version)
	if err != nil {
		return "", err
	}
	b := builder{program: p, version: version, source: filepath.Join(servers, p.dir), target: target, log: log, every: 15 * time.Second}
	return b.binary(ctx)
}

// cachePath returns the path of the program's build in the cache.
func (p program) cachePath(version string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot build %s: no cache directory: %w (set $HOME or $XDG_CACHE_HOME, or $%s to a directory with the program)", p.name, err, assetsVariable)
	}
	build := fmt.Sprintf("%s-%s-%s-%s", p.dir, version, runtime.GOOS, runtime.GOARCH)
	return filepath.Join(cache, "informer-exporter", "servers", build, executable(p.name)), nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func inAssets(name string) string {
	dir := os.Getenv(assetsVariable)
	if dir == "" {
		return ""
	}
	path := filepath.Join(dir, executable(name))
	if !isExecutable(path) {
		return ""
	}
	return path
}

func onPath(ctx context.Context, p program, version string, log *slog.Logger) string {
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
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// serversDir returns the path of tools/servers in this repository.
func serversDir() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "tools", "servers"), nil
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
		if err == nil && declares(string(content), modulePath) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no clone of %s at or above %s: run inside one, or set $%s to a directory with the programs", modulePath, start, assetsVariable)
		}
	}
}

func declares(goMod, module string) bool {
	for line := range strings.Lines(goMod) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "module" {
			return fields[1] == module
		}
	}
	return false
}
