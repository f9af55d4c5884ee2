package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// startTimeout leaves room for building the servers.
const startTimeout = 15 * time.Minute

// shared is the chain for all tests, started by the first test that needs it.
var shared struct {
	sync.Mutex
	tried bool
	chain *chain.Chain
	dir   string
	err   error
}

// TestMain stops the shared chain, and fails if one of its processes is still running. It is not a test because it must run
// last.
func TestMain(m *testing.M) {
	if code, ok := runAsTool(); ok {
		os.Exit(code)
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: stopping the chain:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// theChain returns the running chain.
func theChain(t *testing.T) *chain.Chain {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	shared.Lock()
	defer shared.Unlock()
	if !shared.tried {
		shared.tried = true
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		shared.chain, shared.dir, shared.err = startChain(ctx)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.chain
}

// impatient are objectives with alerts that would otherwise take minutes to fire, and longer to resolve. Sync lag and watch
// down keep their default times for TestFaultReachesTheReceiver.
var impatient = map[string]any{
	"watch_disconnects":      quick("30s"),
	"coverage_gap":           quick("1m"), // longer than the disconnects, which inhibit it
	"client_errors":          quick("30s"),
	"reconcile_errors":       quick("30s"),
	"reconcile_panics":       quick("30s"),
	"cleanup_overdue":        quick(""),
	"leader_missing":         quick(""),
	"api_unreachable":        map[string]any{"for": "6s", "window": "2m"},
	"cache_differs":          quick(""),
	"object_held":            map[string]any{"threshold": 5, "for": "2s"},
	"namespace_stuck":        map[string]any{"threshold": 15, "for": "2s"}, // later than its cause
	"exporter_absent":        quick(""),
	"exporter_kind_down":     quick(""),
	"exporter_config_reload": quick(""),
}

// quick returns an objective with the given window, or the default one if it is empty, and a wait of two seconds.
func quick(window string) map[string]any {
	o := map[string]any{"for": "2s"}
	if window != "" {
		o["window"] = window
	}
	return o
}

func startChain(ctx context.Context) (*chain.Chain, string, error) {
	dir, err := os.MkdirTemp("", "informer-exporter-e2e-")
	if err != nil {
		return nil, "", err
	}
	c, err := chain.Start(ctx, chain.Options{
		Dir: dir,
		// Checks are frequent, so that there are some at any time.
		Exporter: map[string]any{
			"customResources": false, // tests define resources at any time
			"checks":          map[string]any{"audit": "10s", "freshness": "5s"},
		},
		// Everything else has defaults, except for Alertmanager's grouping.
		Generate: map[string]any{"objectives": impatient, "keepFiringFor": "5s"},
		// The scrape timeout: on a busy machine a failed scrape restarts the wait of alerts.
		Interval: 2 * time.Second,
		// A line per alert would hide the message of a test that fails.
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	return c, dir, err
}

// stopShared stops the chain and returns an error if that fails or a process is still running.
func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.dir == "" {
		return nil
	}
	before := processesOf(shared.chain, shared.dir)
	var errs []error
	if c := shared.chain; c != nil {
		if len(before) < 6 {
			errs = append(errs, fmt.Errorf("only these processes were found while the chain ran, so processes that are left may be missed: %v", before))
		}
		begin := time.Now()
		errs = append(errs, c.Stop(context.Background()))
		fmt.Fprintf(os.Stderr, "the chain stopped within %v: %v\n", time.Since(begin).Round(time.Millisecond), before)
	}
	errs = append(errs, left(before), left(processesOf(nil, shared.dir)))
	return errors.Join(append(errs, os.RemoveAll(shared.dir))...)
}

// processesOf returns the names of the chain's processes by ID: its own list and, with /proc, every process with the
// chain's directory in its command line.
func processesOf(c *chain.Chain, dir string) map[int]string {
	found := map[int]string{}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range commands {
		command, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && strings.Contains(string(command), dir) {
			name, _, _ := strings.Cut(string(command), "\x00")
			found[pid] = filepath.Base(name)
		}
	}
	if c != nil {
		for name, pid := range map[string]int{
			"etcd": c.ControlPlane.Etcd.PID(), "kube-apiserver": c.ControlPlane.APIServer.PID(),
			"kube-controller-manager": c.ControlPlane.ControllerManager.PID(), "exporter": c.Exporter.PID(),
			"prometheus": c.Prometheus.PID(), "alertmanager": c.Alertmanager.PID(),
		} {
			found[pid] = name
		}
	}
	return found
}

// left returns an error with the names of processes that still run.
func left(processes map[int]string) error {
	var errs []error
	for pid, name := range processes {
		if alive(pid) {
			errs = append(errs, fmt.Errorf("%s (pid %d) is still running", name, pid))
		}
	}
	return errors.Join(errs...)
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

func TestLeftNamesWhatIsAlive(t *testing.T) {
	if err := left(map[int]string{os.Getpid(): "myself"}); err == nil || !strings.Contains(err.Error(), "myself") {
		t.Errorf("the test's own process is not found: %v", err)
	}
	if err := left(map[int]string{1 << 30: "none"}); err != nil {
		t.Error(err)
	}
}
