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
	// stateMetricsVariable names a kube-state-metrics that is there already.
	stateMetricsVariable = "KUBE_STATE_METRICS"
)

// stateMetrics returns a kube-state-metrics: the one of the environment, else one that is built into the user's cache
// directory, in about two minutes. Nothing of it is part of this repository.
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
	// go install asks for all versions to learn whether this one is retracted, which not every proxy answers.
	module := b.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module scratch\n\ngo 1.26\n\nrequire "+stateMetricsModule+" "+stateMetricsVersion+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Logf("building kube-state-metrics %s; $%s can name one that is there", stateMetricsVersion, stateMetricsVariable)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		b.Fatal(err)
	}
	temporary := program + ".tmp" // so that no one ever sees half a program
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

// startStateMetrics starts kube-state-metrics as it is by default.
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

// waitRest waits until a program that does not say when it has synced has taken hardly any CPU time for three seconds. It
// returns when that time began.
func waitRest(b *testing.B, r *running) time.Time {
	b.Helper()
	const still = 3 * time.Second
	since, before := time.Now(), cpu(b, r.pid)
	for deadline := time.Now().Add(5 * time.Minute); time.Since(since) < still; time.Sleep(100 * time.Millisecond) {
		if now := cpu(b, r.pid); now-before > still/100 || now == 0 { // it works, or has not begun
			since, before = time.Now(), now
		}
		if time.Now().After(deadline) {
			b.Fatalf("it does not come to rest:\n%s", r.log)
		}
	}
	return since
}
