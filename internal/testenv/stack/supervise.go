package stack

import (
	"context"
	"time"
)

// The backoff of a kubelet between restarts of a container that keeps exiting, its CrashLoopBackOff.
const (
	firstBackoff = 10 * time.Second
	maxBackoff   = 5 * time.Minute
	// backoffReset is how long a container must have run for its backoff to be reset.
	backoffReset = 10 * time.Minute
	// restartDelay is roughly the time that a kubelet needs to start a container without a backoff.
	restartDelay = time.Second
)

// crashLoop is the backoff of one program.
type crashLoop struct{ delay time.Duration }

// next returns the delay before the restart of a program that ran for the given time.
func (c *crashLoop) next(ran time.Duration) time.Duration {
	delay := c.delay
	if ran >= backoffReset {
		delay = 0
	}
	c.delay = min(max(2*delay, firstBackoff), maxBackoff)
	return max(delay, restartDelay)
}

// Supervise restarts the server each time it exits without Stop or Kill, with the backoff of a kubelet, until ctx ends. It does
// not wait until the server is ready: a kubelet does not kill a container that is not ready. Each restart is logged.
func (s *Server) Supervise(ctx context.Context) {
	var loop crashLoop
	for proc := s.current(); ctx.Err() == nil; proc = s.current() {
		select {
		case <-ctx.Done():
			return
		case <-proc.done:
		}
		if s.meant(proc) {
			if !s.await(ctx, proc) {
				return
			}
			continue
		}
		ran := time.Since(proc.started)
		delay := loop.next(ran)
		s.command.Log.Warn("program exited; restarting it, as a kubelet would", "program", s.command.Name, "ran", ran.Round(time.Second), "exit", proc.exit(), "backoff", delay)
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
		if err := s.launch(); err != nil {
			s.command.Log.Error("program not restarted", "program", s.command.Name, "err", err)
		}
	}
}

// meant reports whether the process was ended by a method of the Server.
func (s *Server) meant(proc *process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return proc.meant
}

// await waits until the server has a different process, and returns false if ctx ends first.
func (s *Server) await(ctx context.Context, proc *process) bool {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for s.current() == proc {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// launch starts the server unless it is running, without waiting until it is ready.
func (s *Server) launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.running() || s.proc.meant {
		return nil
	}
	proc, err := startProcess(s.command)
	if err != nil {
		return err
	}
	s.proc = proc
	return nil
}
