package stack

import "syscall"

const (
	pauseSignal  = syscall.SIGSTOP
	resumeSignal = syscall.SIGCONT
)

// dieWithParent makes the kernel kill the child when this program dies, and puts it into a process group of its own, so
// that Ctrl-C reaches this program alone and it can stop its servers in the right order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
