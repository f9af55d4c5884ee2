package stack

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

func TestBackoffIsThatOfAKubelet(t *testing.T) {
	var loop crashLoop
	for i, want := range []time.Duration{1, 10, 20, 40, 80, 160, 300, 300} {
		if got := loop.next(time.Minute); got != want*time.Second {
			t.Errorf("end %d: %v, want %vs", i, got, int(want))
		}
	}
	for i, want := range []time.Duration{1, 10} {
		if got := loop.next([]time.Duration{backoffReset, time.Second}[i]); got != want*time.Second {
			t.Errorf("end %d after ten minutes: %v, want %vs", i, got, int(want))
		}
	}
}

// TestSupervise verifies that a program that crashes is restarted, and that a program that is stopped, killed, or stopped
// during its backoff stays down until it is started.
func TestSupervise(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	var log lockedBuffer
	ctx, cancel := context.WithCancel(t.Context())
	var supervisors sync.WaitGroup
	defer supervisors.Wait()
	defer cancel()
	start := func(name string) *Server {
		t.Helper()
		s, err := StartCommand(t.Context(), Command{
			Name: name, Program: sleep, Args: []string{"1000"}, Dir: t.TempDir(), Ready: func(context.Context) error { return nil },
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop(context.Background()) })
		supervisors.Go(func() { s.Supervise(ctx) })
		return s
	}
	crash := func(s *Server) {
		t.Helper()
		if err := s.Crash(); err != nil {
			t.Fatal(err)
		}
	}
	restarted := func(s *Server) {
		t.Helper()
		await.NoError(t, s.command.Name+" runs again", func() error {
			if s.PID() == 0 {
				return fmt.Errorf("not running")
			}
			return nil
		})
	}
	killed, stopped, between, crashed := start("killed"), start("stopped"), start("between"), start("crashed")
	if err := killed.Kill(); err != nil {
		t.Error(err)
	}
	crash(between)
	for _, s := range []*Server{stopped, between} {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	crash(crashed) // last: once it runs again, the others would have been restarted, too
	restarted(crashed)
	for _, s := range []*Server{killed, stopped, between} {
		if s.PID() != 0 {
			t.Errorf("%s was restarted", s.command.Name)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Error(err)
		}
		crash(s)
	}
	for _, s := range []*Server{killed, stopped} {
		restarted(s)
	}
	if text := log.String(); !strings.Contains(text, "program=crashed") || !strings.Contains(text, "backoff=1s") || !strings.Contains(text, "signal: killed") {
		t.Errorf("the log lacks the restart: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
