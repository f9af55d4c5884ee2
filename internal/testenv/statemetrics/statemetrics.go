// Package statemetrics provides kube-state-metrics, a program that the project neither wrote nor changed.
package statemetrics

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	module = "k8s.io/kube-state-metrics/v2"
	// Version is the version of kube-state-metrics.
	Version = "v2.20.0"
	// variable is the environment variable with the path of an existing program.
	variable = "KUBE_STATE_METRICS"
)

// Installed returns the path of the program: the value of $KUBE_STATE_METRICS or, without one, where Program has built it. It is empty
// if there is none.
func Installed() string {
	if program := os.Getenv(variable); program != "" {
		return program
	}
	if program := built(); program != "" {
		if _, err := os.Stat(program); err == nil {
			return program
		}
	}
	return ""
}

// built is the path of the build in the user's cache directory.
func built() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "informer-exporter", "servers", "kube-state-metrics-"+Version, "kube-state-metrics")
}

// Program returns the path of the program. The first call builds it, which takes about two minutes.
func Program(t testing.TB) string {
	t.Helper()
	if program := Installed(); program != "" {
		return program
	}
	program := built()
	if program == "" {
		t.Fatal("there is no cache directory for kube-state-metrics: set $" + variable)
	}
	// go install requests the list of versions to check for retractions, which not every proxy serves.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module scratch\n\ngo 1.26\n\nrequire "+module+" "+Version+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("building kube-state-metrics %s; $%s can name an existing one", Version, variable)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	temporary := program + ".tmp" // so that the program is never incomplete
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", temporary, module)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(temporary, program); err != nil {
		t.Fatal(err)
	}
	return program
}
