package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

const (
	stateMetricsModule  = "k8s.io/kube-state-metrics/v2"
	stateMetricsVersion = "v2.20.0"
	// stateMetricsVariable is the environment variable with the path of an existing kube-state-metrics.
	stateMetricsVariable = "KUBE_STATE_METRICS"
)

// stateMetrics returns the path of kube-state-metrics: the value of the environment variable or, without one, a build in the
// user's cache directory. The first call builds it, which takes about two minutes.
func stateMetrics(b *testing.B) string {
	b.Helper()
	if program := os.Getenv(stateMetricsVariable); program != "" {
		return program
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(cache, "informer-exporter", "servers", "kube-state-metrics-"+stateMetricsVersion, "kube-state-metrics")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	// go install requests the list of versions to check for retractions, which not every proxy serves.
	module := b.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module scratch\n\ngo 1.26\n\nrequire "+stateMetricsModule+" "+stateMetricsVersion+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Logf("building kube-state-metrics %s; $%s can name an existing one", stateMetricsVersion, stateMetricsVariable)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		b.Fatal(err)
	}
	temporary := program + ".tmp" // so that the program is never incomplete
	cmd := exec.CommandContext(b.Context(), "go", "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", temporary, stateMetricsModule)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(temporary, program); err != nil {
		b.Fatal(err)
	}
	return program
}

// startStateMetrics starts kube-state-metrics with its defaults.
func startStateMetrics(b *testing.B, program, kubeconfig string) *running {
	b.Helper()
	metrics, err := port.Free()
	if err != nil {
		b.Fatal(err)
	}
	telemetry, err := port.Free()
	if err != nil {
		b.Fatal(err)
	}
	r := startProgram(b, nil, program, "--kubeconfig="+kubeconfig, "--host=127.0.0.1", "--port="+strconv.Itoa(metrics),
		"--telemetry-host=127.0.0.1", "--telemetry-port="+strconv.Itoa(telemetry))
	r.metrics = "http://" + port.Address(metrics) + "/metrics"
	return r
}

// waitRest waits until a program has used hardly any CPU time for three seconds, and returns the beginning of these seconds. It is
// for programs that do not report when they have synced.
func waitRest(b *testing.B, r *running) time.Time {
	b.Helper()
	const still = 3 * time.Second
	since, before := time.Now(), cpu(b, r.pid)
	for deadline := time.Now().Add(5 * time.Minute); time.Since(since) < still; time.Sleep(100 * time.Millisecond) {
		if now := cpu(b, r.pid); now-before > still/100 || now == 0 { // it is busy, or has not started
			since, before = time.Now(), now
		}
		if time.Now().After(deadline) {
			b.Fatalf("the program does not become idle:\n%s", r.log)
		}
	}
	return since
}
