package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// asProgram makes the test binary act as the program, so that its signals and exit codes can be tested.
const asProgram = "INFORMER_EXPORTER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	stacktest.Main(m)
}

// output is a buffer that is safe for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// wait returns the output between two parts once both have been written.
func (o *output) wait(t testing.TB, after, before string) string {
	t.Helper()
	var found string
	await.True(t, fmt.Sprintf("the output has %q", after), func() (complete bool) {
		if _, rest, ok := strings.Cut(o.String(), after); ok {
			found, _, complete = strings.Cut(rest, before)
		}
		return complete
	}, o.String)
	return found
}

// unreachable writes a kubeconfig for an unreachable API server.
func unreachable(t *testing.T) string {
	t.Helper()
	return write(t, "kubeconfig", `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cluster := "--kubeconfig=" + unreachable(t)

	for _, tc := range []struct {
		name   string
		args   []string
		code   int
		stdout string // a part of it
		err    []string
	}{
		{name: "help", args: []string{"--help"}, stdout: "  check-config"},
		{name: "help as a command", args: []string{"help"}, stdout: "  push "},
		{name: "help of serve", args: []string{"serve", "--help"}, stdout: "--web.telemetry-path PATH"},
		{name: "help among flags", args: []string{"--web.enable-pprof", "-h"}, stdout: "(default [:9958])"},
		{name: "help of a command without flags", args: []string{"check-config", "--help"}, stdout: "usage: informer-exporter check-config FILE\n"},
		{name: "version", args: []string{"version"}, stdout: "informer-exporter, version "},
		{name: "version as a flag", args: []string{"--version"}, stdout: runtime.Version()},
		{name: "unknown flag", args: []string{"--nope"}, code: exitUsage, err: []string{"--nope", "--help"}},
		{name: "unknown command", args: []string{"scrape"}, code: exitUsage, err: []string{"scrape"}},
		{name: "flag before the command", args: []string{"--log.level=debug", "push"}, code: exitUsage, err: []string{`unknown command "push"`, "serve --help"}},
		{name: "flag of another command", args: []string{"generate", "--kubeconfig=x"}, code: exitUsage, err: []string{"unknown flag: --kubeconfig", "generate --help"}},
		{name: "two configurations to check", args: []string{"check-config", "a", "b"}, code: exitUsage, err: []string{"received 2", "check-config --help"}},
		{name: "not a boolean", args: []string{"--auto-gomemlimit=maybe"}, code: exitUsage, err: []string{"--auto-gomemlimit", "maybe"}},
		{name: "not a URL", args: []string{"push", "--pushgateway.url=http://u:s@h:x"}, code: exitUsage, err: []string{"--pushgateway.url: not a URL like http://pushgateway:9091"}},
		{name: "generate for an unknown schema", args: []string{"generate", "--out=" + t.TempDir(), "--grafana-schema=v3"}, code: exitUsage, err: []string{"--grafana-schema", "v3"}},
		{name: "log level", args: []string{"--log.level=loud"}, code: exitUsage, err: []string{"--log.level", "loud", "debug, info"}},
		{name: "log format", args: []string{"--log.format=xml"}, code: exitUsage, err: []string{"--log.format", "xml", "logfmt, json"}},
		{name: "invalid shard", args: []string{"--shard=three"}, code: exitUsage, err: []string{"--shard", "three", "such as 0/3"}},
		{name: "shard that is empty", args: []string{"--shard="}, code: exitUsage, err: []string{"--shard", "such as 0/3"}},
		{name: "shard beyond the last", args: []string{"serve", "--shard=3/3"}, code: exitUsage, err: []string{"--shard", "0 to 2"}},
		{name: "no cluster", code: exitError, err: []string{"--kubeconfig"}},
		{name: "no such kubeconfig", args: []string{"--kubeconfig=/nope"}, code: exitError, err: []string{"--kubeconfig", "/nope"}},
		{name: "no such configuration", args: []string{"serve", "--config.file=/nope"}, code: exitError, err: []string{"--config.file", "/nope"}},
		{
			name: "unknown field", args: []string{"--config.file=" + write(t, "c.yaml", "resuorces: []")}, code: exitError,
			err: []string{"--config.file", "line 1", "resuorces", "unknown field"},
		},
		{name: "good configuration", args: []string{"check-config", write(t, "good.yaml", "resources: [pods]")}, stdout: "good.yaml is valid\n"},
		{
			name: "bad configuration", args: []string{"check-config", write(t, "bad.yaml", "namespaces: [a]\nchecks: {audit: soon}")}, code: exitError,
			err: []string{"bad.yaml: line 2: checks.audit"},
		},
		{name: "no such configuration to check", args: []string{"check-config", "/nope"}, code: exitError, err: []string{"/nope"}},
		{name: "no configuration to check", args: []string{"check-config"}, code: exitUsage, err: []string{"received 0"}},
		{
			name: "generate for a bad configuration", args: []string{"generate", "--out=" + t.TempDir(), "--exporter.config.file=" + write(t, "bad.yaml", "a: b")}, code: exitError,
			err: []string{"bad.yaml: line 1: unknown field"},
		},
		{
			name: "generate for a configuration", args: []string{"generate", "--out=" + t.TempDir(), "--exporter.config.file=" + write(t, "good.yaml", "resources: [pods]")},
			stdout: "wrote ",
		},
		{name: "no such web configuration", args: []string{"--web.config.file=/nope", cluster}, code: exitError, err: []string{"--web.config.file", "/nope"}},
		{
			name: "bad web configuration", args: []string{"--web.config.file=" + write(t, "w.yaml", "basic_auth: {}"), cluster}, code: exitError,
			err: []string{"--web.config.file", "basic_auth"},
		},
		{name: "telemetry path", args: []string{"--web.telemetry-path=/livez", cluster}, code: exitError, err: []string{"--web.telemetry-path", "/livez"}},
		{name: "health address in use", args: []string{"--web.listen-address=127.0.0.1:0", "--web.health-address=" + taken.Addr().String(), cluster}, code: exitError, err: []string{"--web.health-address", "in use"}},
		{
			name: "password or token", args: []string{"--web.kubernetes-auth", "--web.config.file=" + write(t, "b.yaml", "basic_auth_users: {alice: '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi'}"), cluster}, code: exitError,
			err: []string{"--web.kubernetes-auth", "basic_auth_users"},
		},
		{
			name: "tokens in clear text", args: []string{"--web.kubernetes-auth", cluster}, code: exitError,
			err: []string{"--web.kubernetes-auth: without TLS", "clear text", "tls_server_config"},
		},
		{
			name: "tokens in clear text, with a web configuration", args: []string{"--web.kubernetes-auth", "--web.config.file=" + write(t, "h.yaml", "http_server_config: {http2: false}"), cluster}, code: exitError,
			err: []string{"--web.kubernetes-auth: without TLS"},
		},
		{name: "share of the memory", args: []string{"--auto-gomemlimit.ratio=1.5", cluster}, code: exitUsage, err: []string{"--auto-gomemlimit.ratio", "1.5"}},
		{name: "push without an address", args: []string{"push", cluster}, code: exitUsage, err: []string{"pushgateway.url"}},
		{name: "push to nowhere", args: []string{"push", "--pushgateway.url=gateway:9091", cluster}, code: exitUsage, err: []string{"pushgateway.url", "http://"}},
		{name: "push with a password without a user", args: []string{"push", "--pushgateway.url=http://g", "--pushgateway.password-file=/f", cluster}, code: exitUsage, err: []string{"--pushgateway.password-file", "user"}},
		{name: "push with a bad label", args: []string{"push", "--pushgateway.url=http://g", "--pushgateway.grouping=a-b=c", cluster}, code: exitUsage, err: []string{"--pushgateway.grouping", "a-b"}},
		{name: "push at once", args: []string{"push", "--pushgateway.url=http://g", "--push.timeout=0s", cluster}, code: exitUsage, err: []string{"--push.timeout"}},
		{name: "address in use", args: []string{"--web.listen-address=" + taken.Addr().String(), cluster}, code: exitError, err: []string{"--web.listen-address", "in use"}},
		{name: "not an address", args: []string{"--web.listen-address=here", cluster}, code: exitError, err: []string{"--web.listen-address", "here"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr output
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			err := run(ctx, tc.args, &stdout, &stderr)
			if ctx.Err() != nil {
				t.Fatalf("did not return within 5 minutes\n%s", &stderr)
			}
			if code := exitCode(err); code != tc.code {
				t.Errorf("exit code %d, want %d: %v", code, tc.code, err)
			}
			if !strings.Contains(stdout.String(), tc.stdout) {
				t.Errorf("stdout does not have %q:\n%s", tc.stdout, &stdout)
			}
			for _, want := range tc.err {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not have %q", err, want)
				}
			}
		})
	}
}

// An invalid tracing configuration is an error at startup.
func TestTracingConfigurationErrors(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "carrier_pigeon")
	err := run(t.Context(), []string{"--kubeconfig=" + unreachable(t)}, &output{}, &output{})
	if err == nil || !strings.Contains(err.Error(), "OTEL_TRACES_EXPORTER") {
		t.Errorf("error %v does not name OTEL_TRACES_EXPORTER", err)
	}
}

func TestExitCode(t *testing.T) {
	for err, want := range map[error]int{
		nil:               exitOK,
		errors.New("any"): exitError,
		fmt.Errorf("wrapped: %w", usageError{errors.New("flag")}): exitUsage,
	} {
		if got := exitCode(err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}

// program starts the test binary as the program.
func program(t *testing.T, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*await.Timeout)
	t.Cleanup(cancel)
	log := &output{}
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, log
}

func TestFirstSignalShutsDown(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, log := program(t, "--web.listen-address=127.0.0.1:0", "--kubeconfig="+unreachable(t))
			log.wait(t, `msg="Listening on" address=`, "\n")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("ended with %v, want exit code 0\n%s", err, log)
			}
			for _, part := range []string{signal.String() + " signal received", `msg="shutdown finished"`, "failed_steps=0"} {
				if !strings.Contains(log.String(), part) {
					t.Errorf("log does not have %q:\n%s", part, log)
				}
			}
		})
	}
}

// SIGHUP reloads the configuration file even if it has not changed, and does not end the program.
func TestHangupReloads(t *testing.T) {
	path := write(t, "config.yaml", "resources: [pods]")
	cmd, log := program(t, "--web.listen-address=127.0.0.1:0", "--config.file="+path, "--kubeconfig="+unreachable(t))
	log.wait(t, `msg="Listening on" address=`, "\n")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `msg="configuration reloaded"`, "\n")
	if err := os.WriteFile(path, []byte("resources: {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `msg="invalid configuration file; the last valid one stays in use"`, "\n")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v\n%s", err, log)
	}
}

// client-go logs through the same handler, in the same format and at the same level.
func TestLogsOfClientGo(t *testing.T) {
	for level, want := range map[string]bool{"info": false, "debug": true} {
		cmd, log := program(t, "--web.listen-address=127.0.0.1:0", "--log.format=json", "--log.level="+level, "--kubeconfig="+unreachable(t))
		const line = `"msg":"Listing and watching","type":"pods"`
		if want {
			log.wait(t, line, "\n")
		} else {
			log.wait(t, `"msg":"cannot read resources; retrying`, "\n") // logged after the reflector has logged
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, log)
		}
		if got := strings.Contains(log.String(), line); got != want {
			t.Errorf("at level %s a debug line of client-go is logged: %t, want %t", level, got, want)
		}
		for text := range strings.Lines(log.String()) {
			if !strings.HasPrefix(text, "{") {
				t.Errorf("at level %s, a line is not JSON: %s", level, text)
			}
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd, log := program(t, "--web.listen-address=127.0.0.1:0", "--web.enable-pprof", "--kubeconfig="+unreachable(t))
	address := log.wait(t, `msg="Listening on" address=`, "\n")
	// A request that takes longer than the timeout for stopping the web server.
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /debug/pprof/trace?seconds=30 HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// The trace has begun when its first bytes arrive.
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `step="report not ready"`, "\n")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v, want the second signal\n%s", err, log)
	}
	if strings.Contains(log.String(), `msg="shutdown finished"`) {
		t.Errorf("the shutdown was completed:\n%s", log)
	}
}
