package stack

import "syscall"

// dieWithParent makes the kernel kill the child when this program dies, and puts the child into its own process group,
// so that Ctrl-C reaches only this program, which stops its servers in order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
