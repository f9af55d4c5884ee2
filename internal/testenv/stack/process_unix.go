//go:build unix && !linux

package stack

import "syscall"

const (
	pauseSignal  = syscall.SIGSTOP
	resumeSignal = syscall.SIGCONT
)

// dieWithParent can only keep Ctrl-C from the child here: these kernels do not end the children of a dead parent.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
