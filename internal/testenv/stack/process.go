package stack

import (
	"context"
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
	// readyTimeout is generous because a test machine may be compiling at the same time; a server that dies ends the
	// wait at once.
	readyTimeout = 2 * time.Minute
	// stopTimeout is how long a server may take to say goodbye. kube-apiserver would wait a minute for clients that go on
	// sending requests.
	stopTimeout = 5 * time.Second
)

// Server is a child process that listens on fixed addresses and keeps its data in a directory, so that it can be
// stopped, killed, paused and started again. Its methods may be called from several goroutines.
type Server struct {
	name    string
	program string
	args    []string
	logFile string
	ready   func(context.Context) error
	log     *slog.Logger

	mu   sync.Mutex
	proc *process
}

// newServer describes a server without starting it. Its log goes to a file in dir.
func newServer(name, program, dir string, args []string, ready func(context.Context) error, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{
		name: name, program: program, args: args, ready: ready, log: log,
		logFile: filepath.Join(dir, name+".log"),
	}
}

// Command describes a program that is not one of this package's, to be run like them: NewCommand starts, for example,
// the exporter itself.
type Command struct {
	Name    string
	Program string
	Args    []string
	Dir     string // where the log file goes; the caller's to remove
	// Ready is called until it returns nil.
	Ready func(context.Context) error
	Log   *slog.Logger
}

// StartCommand starts a program of the caller's and waits until it is ready.
func StartCommand(ctx context.Context, c Command) (*Server, error) {
	s := newServer(c.Name, c.Program, c.Dir, c.Args, c.Ready, c.Log)
	return s, s.Start(ctx)
}

// Start starts the server and returns when it is ready. A server that does not become ready is ended, and the error
// holds the end of its log.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.running() {
		return fmt.Errorf("%s runs already (pid %d)", s.name, s.proc.cmd.Process.Pid)
	}
	started := time.Now()
	proc, err := startProcess(s.program, s.args, s.logFile)
	if err != nil {
		return fmt.Errorf("starting %s: %w", s.name, err)
	}
	s.proc = proc
	if err := s.waitReady(ctx, proc); err != nil {
		proc.kill()
		return err
	}
	s.log.Debug("server is ready", "server", s.name, "pid", proc.cmd.Process.Pid, "after", time.Since(started).Round(time.Millisecond))
	return nil
}

func (s *Server) waitReady(ctx context.Context, proc *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := s.ready(ctx)
		if err == nil && proc.running() { // else another program answers on its port
			return nil
		}
		select {
		case <-proc.done:
			return fmt.Errorf("%s ended before it was ready: %w\n%s", s.name, proc.exit(), logTail(s.logFile))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (last answer: %w)\n%s", s.name, context.Cause(ctx), err, logTail(s.logFile))
		case <-ticker.C:
		}
	}
}

// WaitReady waits until a running server answers that it is ready, for example after Resume.
func (s *Server) WaitReady(ctx context.Context) error {
	proc := s.current()
	if !proc.running() {
		return fmt.Errorf("%s does not run", s.name)
	}
	return s.waitReady(ctx, proc)
}

// Stop asks the server to end and waits; when ctx ends or 5 seconds have passed, it kills it. The server is gone
// afterwards in any case. Stopping a server that does not run does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.proc.running() {
		return nil
	}
	// A paused process would not see the signal.
	_ = s.proc.signal(resumeSignal)
	if err := s.proc.signal(syscall.SIGTERM); err != nil {
		s.proc.kill() // it has ended meanwhile, or cannot be asked, as on Windows
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	asked := time.Now()
	select {
	case <-s.proc.done:
		s.log.Debug("server has stopped", "server", s.name, "after", time.Since(asked).Round(time.Millisecond))
		return nil
	case <-ctx.Done():
		s.proc.kill()
		s.log.Debug("server was killed because it did not stop", "server", s.name, "after", time.Since(asked).Round(time.Millisecond))
		return nil
	}
}

// Kill ends the server without giving it a chance to say goodbye to its clients, and waits until it is gone.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.proc.running() {
		return fmt.Errorf("%s does not run", s.name)
	}
	s.proc.kill()
	return nil
}

// Restart stops the server if it runs and starts it on the same addresses and data.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Pause freezes the server: its connections stay open and nothing answers, until Resume.
func (s *Server) Pause() error { return s.signal(pauseSignal) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.signal(resumeSignal) }

func (s *Server) signal(sig syscall.Signal) error {
	proc := s.current()
	if !proc.running() {
		return fmt.Errorf("%s does not run", s.name)
	}
	if err := proc.signal(sig); err != nil {
		return fmt.Errorf("sending %v to %s: %w", sig, s.name, err)
	}
	return nil
}

// PID is the process id, 0 when the server does not run.
func (s *Server) PID() int {
	if proc := s.current(); proc.running() {
		return proc.cmd.Process.Pid
	}
	return 0
}

// Done is closed when the process that runs now has ended; nil when none was ever started.
func (s *Server) Done() <-chan struct{} {
	if proc := s.current(); proc != nil {
		return proc.done
	}
	return nil
}

// LogFile is the path of the server's log. Restarts append to it.
func (s *Server) LogFile() string { return s.logFile }

// LogTail returns the end of the server's log, for the message of a failed test.
func (s *Server) LogTail() string { return logTail(s.logFile) }

func (s *Server) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// process is one run of a server.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; to be read after done
}

// startProcess starts the child from a goroutine that stays on its thread until the child has ended. On Linux the kernel
// kills the child when the thread that started it dies (dieWithParent), and the Go runtime may end a thread at any time;
// a locked thread that waits for the child lives exactly as long as the child or this program.
func startProcess(program string, args []string, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = filepath.Dir(logFile)
	cmd.SysProcAttr = dieWithParent()
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer close(p.done)
		defer log.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
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

// exit is how the process ended; never nil, because a server that ends by itself has failed even with status 0.
func (p *process) exit() error {
	if p.err != nil {
		return p.err
	}
	return fmt.Errorf("exit status 0")
}

func (p *process) signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only when it has ended
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

// answers returns a readiness check that wants status 200 from a URL. It keeps no connection open, so that nothing of it
// outlives the wait.
func answers(url string, transport *http.Transport, authorization string) func(context.Context) error {
	if transport == nil {
		transport = &http.Transport{}
	}
	transport.DisableKeepAlives = true
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
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
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	}
}

// Answers is a readiness check for StartCommand: it wants status 200 from a URL.
func Answers(url string) func(context.Context) error { return answers(url, nil, "") }
