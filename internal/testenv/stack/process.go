package stack

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// readyTimeout is generous because a test machine may be compiling at the same time; the exit of a server ends the wait
	// immediately.
	readyTimeout = 5 * time.Minute
	// stopTimeout limits the graceful shutdown of a server by default. kube-apiserver would wait a minute for clients that
	// keep sending requests.
	stopTimeout = 5 * time.Second
)

// Server is a child process that listens on fixed addresses and keeps its data in a directory, so that it can be
// stopped, killed, paused and restarted. Its methods are safe for concurrent use.
type Server struct {
	command Command

	mu   sync.Mutex
	proc *process
}

// Command describes a program of the caller, such as the exporter, that is run like the servers of this package.
type Command struct {
	Name    string
	Program string
	Args    []string
	// Env is added to the environment of this process, as key=value.
	Env []string
	Dir string // directory of the log file; the caller removes it
	// Ready is called repeatedly until it returns nil.
	Ready func(context.Context) error
	// StopTimeout is how long Stop waits before it kills the program. Defaults to 5 seconds.
	StopTimeout time.Duration
	Log         *slog.Logger
}

func (c Command) logFile() string { return filepath.Join(c.Dir, c.Name+".log") }

// StartCommand starts a program of the caller and waits until it is ready.
func StartCommand(ctx context.Context, c Command) (*Server, error) {
	c.Log = orSilent(c.Log)
	s := &Server{command: c}
	return s, s.Start(ctx)
}

// startProgram starts a program that Binary finds or builds, and waits until it is ready. The program is the name of the server.
func startProgram(ctx context.Context, program string, c Command) (s *Server, err error) {
	c.Name = program
	if c.Program, err = Binary(ctx, program, c.Log); err != nil {
		return nil, err
	}
	return StartCommand(ctx, c)
}

// Start starts the server and returns when it is ready. A server that does not become ready is stopped, and the error
// includes the end of its log.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.running() {
		return fmt.Errorf("%s is already running (pid %d)", s.command.Name, s.proc.cmd.Process.Pid)
	}
	started := time.Now()
	proc, err := startProcess(s.command)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.command.Name, err)
	}
	s.proc = proc
	if err := s.waitReady(ctx, proc); err != nil {
		proc.meant = true
		proc.kill()
		return err
	}
	s.command.Log.Debug("server is ready", "server", s.command.Name, "pid", proc.cmd.Process.Pid, "after", time.Since(started).Round(time.Millisecond))
	return nil
}

func (s *Server) waitReady(ctx context.Context, proc *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := s.command.Ready(ctx)
		if err == nil && proc.running() { // otherwise another program responds on its port
			return nil
		}
		select {
		case <-proc.done:
			return fmt.Errorf("%s exited before it was ready: %w\n%s", s.command.Name, proc.exit(), s.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (last response: %w)\n%s", s.command.Name, context.Cause(ctx), err, s.LogTail())
		case <-ticker.C:
		}
	}
}

// WaitReady waits until a running server is ready, for example after Resume.
func (s *Server) WaitReady(ctx context.Context) error {
	proc := s.current()
	if !proc.running() {
		return fmt.Errorf("%s is not running", s.command.Name)
	}
	return s.waitReady(ctx, proc)
}

// Stop stops the server gracefully. It kills the server when ctx ends, or after Command.StopTimeout. The server has
// exited when Stop returns, and Supervise does not restart it, even if it was not running.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.meant = true
	}
	if !s.proc.running() {
		return nil
	}
	// A paused process would not receive the signal.
	_ = s.proc.signal(syscall.SIGCONT)
	if err := s.proc.signal(syscall.SIGTERM); err != nil {
		s.proc.kill() // it has exited
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.command.StopTimeout, stopTimeout))
	defer cancel()
	asked := time.Now()
	select {
	case <-s.proc.done:
		s.command.Log.Debug("server stopped", "server", s.command.Name, "after", time.Since(asked).Round(time.Millisecond))
		return nil
	case <-ctx.Done():
		s.proc.kill()
		s.command.Log.Debug("server killed: it did not stop", "server", s.command.Name, "after", time.Since(asked).Round(time.Millisecond))
		return nil
	}
}

// Kill kills the server without a graceful shutdown, and waits until it has exited. Supervise does not restart it.
func (s *Server) Kill() error { return s.kill(true) }

// Crash kills the server as if it had exited unexpectedly, and waits until it has exited. Supervise restarts it.
func (s *Server) Crash() error { return s.kill(false) }

func (s *Server) kill(meant bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.proc.running() {
		return fmt.Errorf("%s is not running", s.command.Name)
	}
	s.proc.meant = meant
	s.proc.kill()
	return nil
}

// Restart stops the server if it is running, and starts it on the same addresses and data.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Pause freezes the server until Resume: connections stay open and requests hang.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	proc := s.current()
	if !proc.running() {
		return fmt.Errorf("%s is not running", s.command.Name)
	}
	if err := proc.signal(sig); err != nil {
		return fmt.Errorf("send %v to %s: %w", sig, s.command.Name, err)
	}
	return nil
}

// PID returns the process ID, 0 if the server is not running.
func (s *Server) PID() int {
	if proc := s.current(); proc.running() {
		return proc.cmd.Process.Pid
	}
	return 0
}

// Program returns the path of the program.
func (s *Server) Program() string { return s.command.Program }

// LogFile returns the path of the server's log. Restarts append to it.
func (s *Server) LogFile() string { return s.command.logFile() }

// LogTail returns the end of the server's log, for the messages of failed tests.
func (s *Server) LogTail() string { return logTail(s.LogFile()) }

func (s *Server) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// process is one run of a server.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	done    chan struct{}
	err     error // how it exited; valid after done is closed
	meant   bool  // ended by a method of its Server; guarded by the mutex of the Server
}

// startProcess starts the child from a goroutine that stays on its thread until the child has exited. On Linux the
// kernel kills the child when the thread that started it dies (dieWithParent), and the Go runtime may end a thread at
// any time. A locked thread that waits for the child lives as long as the child or this program.
func startProcess(c Command) (*process, error) {
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.SysProcAttr = dieWithParent()
	p := &process{cmd: cmd, started: time.Now(), done: make(chan struct{})}
	launched := make(chan error)
	go func() {
		defer close(p.done)
		defer log.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		launched <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-launched; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// exit returns how the process exited. It never returns nil: a server that exits on its own has failed, even with status 0.
func (p *process) exit() error {
	if p.err != nil {
		return p.err
	}
	return fmt.Errorf("exit status 0")
}

func (p *process) signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only after the exit
	<-p.done
}

func logTail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	var tail tailBuffer
	_, _ = tail.Write(content)
	return "end of " + path + ":\n" + tail.String()
}

// Answers returns a readiness check for StartCommand that expects status 200 from a URL.
func Answers(url string) func(context.Context) error { return answers(url, nil, "") }

// answers keeps no idle connection.
func answers(url string, tls *tls.Config, authorization string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tls, DisableKeepAlives: true}, Timeout: 5 * time.Second}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s returned %s", url, resp.Status)
		}
		return nil
	}
}
