package main

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The limit is the configured ratio of the container's limit, or GOMEMLIMIT if that is set.
func TestMemoryLimit(t *testing.T) {
	const container = 1 << 30
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	broken := func() (uint64, error) { return 0, errors.New("no such cgroup") }
	unlimited := func() (uint64, error) { return 0, memlimit.ErrNoLimit }

	for _, tc := range []struct {
		name  string
		env   string
		flags memoryFlags
		want  int64
		log   string
	}{
		{"a share of the container's", "", memoryFlags{true, 0.5, memlimit.Limit(container)}, container / 2, "gomemlimit_bytes=536870912"},
		{"the environment comes first", "100MiB", memoryFlags{true, 0.5, memlimit.Limit(container)}, 3 << 20, "gomemlimit_bytes=3145728"},
		{"switched off", "", memoryFlags{false, 0.5, memlimit.Limit(container)}, 3 << 20, "gomemlimit_bytes=3145728"},
		{"a container without a limit", "", memoryFlags{true, 0.5, unlimited}, math.MaxInt64, "memory is not limited"},
		{"no container", "", memoryFlags{true, 0.5, broken}, 3 << 20, "no such cgroup"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", tc.env)
			if tc.env == "" {
				os.Unsetenv("GOMEMLIMIT")
			}
			debug.SetMemoryLimit(3 << 20) // the runtime may already have a limit
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var log output
			tc.flags.apply(ctx, slog.New(slog.NewTextHandler(&log, nil)))
			if got := debug.SetMemoryLimit(-1); got != tc.want {
				t.Errorf("the limit is %d, want %d", got, tc.want)
			}
			if !strings.Contains(log.String(), tc.log) {
				t.Errorf("the log does not have %q:\n%s", tc.log, &log)
			}
		})
	}
}

// In a real cgroup, the limit is logged and exposed as a metric. It defaults to 80%.
func TestMemoryLimitOfACgroup(t *testing.T) {
	procs := limitedCgroup(t, "536870912")
	log := &output{}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo $$ >`+procs+` && exec "$0" "$@"`,
		os.Args[0], "--web.listen-address=127.0.0.1:0", "--kubeconfig="+unreachable(t))
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, log)
		}
	}()
	address := log.wait(t, `msg="Listening on" address=`, "\n")
	if _, body := get(t, "http://"+address+"/metrics"); !strings.Contains(body, "\ngo_gc_gomemlimit_bytes 4.29496729e+08\n") {
		t.Errorf("the limit is not among the metrics:\n%s", log)
	}
	if !strings.Contains(log.String(), `msg="memory limit set" gomemlimit_bytes=429496729`) {
		t.Errorf("the limit is not logged:\n%s", log)
	}
}

// limitedCgroup creates a cgroup with a memory limit and returns the file that adds a process to it. Without the
// permission, which most users lack, the test is skipped.
func limitedCgroup(t *testing.T, limit string) (procs string) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	dir, file := "", ""
	for line := range strings.Lines(string(own)) {
		switch parts := strings.SplitN(strings.TrimSpace(line), ":", 3); {
		case len(parts) != 3:
		case parts[1] == "memory":
			dir, file = filepath.Join("/sys/fs/cgroup/memory", parts[2]), "memory.limit_in_bytes"
		case parts[1] == "" && dir == "":
			dir, file = filepath.Join("/sys/fs/cgroup", parts[2]), "memory.max"
		}
	}
	dir = filepath.Join(dir, "informer-exporter-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(limit), 0o644); err != nil {
		t.Skip(err)
	}
	return filepath.Join(dir, "cgroup.procs")
}
