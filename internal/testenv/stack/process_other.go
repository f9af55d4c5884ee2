//go:build !linux

package stack

import "syscall"

// dieWithParent only protects the child from Ctrl-C here: these kernels do not kill the children of a dead parent.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
