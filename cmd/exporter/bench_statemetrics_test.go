package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// startStateMetrics starts kube-state-metrics with its defaults.
func startStateMetrics(b *testing.B, program, kubeconfig string) *running {
	b.Helper()
	metrics, telemetry := port.Free(), port.Free()
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
