package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// buildExporter compiles the program as `make build` does. Without the tag, the linker keeps 10 MB of unused methods.
func buildExporter(b testing.TB) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "exporter")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}

// running is a program that is being measured.
type running struct {
	pid     int
	log     *output
	metrics string // URL
}

// startProgram runs a program until the end of the benchmark, with additional environment variables.
func startProgram(b testing.TB, environment []string, program string, args ...string) *running {
	b.Helper()
	log := &output{}
	cmd := exec.CommandContext(b.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), environment...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return &running{pid: cmd.Process.Pid, log: log}
}

// startExporter starts the exporter with a configuration and additional flags, without a memory limit.
func startExporter(b testing.TB, program, kubeconfig, config string, args ...string) *running {
	b.Helper()
	file := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	args = append([]string{"--kubeconfig=" + kubeconfig, "--config.file=" + file, "--web.listen-address=127.0.0.1:0", "--web.enable-pprof", "--log.format=json"}, args...)
	r := startProgram(b, []string{"GOMEMLIMIT=off"}, program, args...)
	r.metrics = "http://" + r.log.wait(b, `"msg":"Listening on","address":"`, `"`) + "/metrics"
	return r
}

// memory returns a line of /proc/PID/status in MiB: VmRSS, or its peak VmHWM.
func memory(b testing.TB, pid int, line string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		b.Fatalf("no %s in\n%s", line, status)
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// cpu returns the CPU time of a process, which Linux counts in hundredths of a second.
func cpu(b testing.TB, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks time.Duration
	for _, field := range fields[11:13] { // user and system
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * time.Second / 100
}

// scrapes holds the durations and the mean CPU time of several scrapes, and the size of the response.
type scrapes struct {
	median, slowest, cpu time.Duration
	bytes, series        int
}

// scrapeTimes scrapes a program n times.
func scrapeTimes(b testing.TB, r *running, n int) (s scrapes) {
	b.Helper()
	times := make([]time.Duration, n)
	var body []byte
	before := cpu(b, r.pid)
	for i := range times {
		begin := time.Now()
		body = scrape(b, r.metrics)
		times[i] = time.Since(begin)
	}
	s.cpu = (cpu(b, r.pid) - before) / time.Duration(n)
	slices.Sort(times)
	s.median, s.slowest, s.bytes = times[n/2], times[n-1], len(body)
	for line := range bytes.Lines(body) {
		if line[0] != '#' {
			s.series++
		}
	}
	return s
}

// samples scrapes a program and returns the samples.
func samples(b testing.TB, r *running) metricstest.Samples {
	b.Helper()
	s, err := metricstest.Parse(bytes.NewReader(scrape(b, r.metrics)))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func scrape(b testing.TB, url string) []byte {
	b.Helper()
	response, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(response.Status, err)
	}
	return body
}
