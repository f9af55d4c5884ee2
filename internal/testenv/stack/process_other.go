//go:build !unix

package stack

import "syscall"

// Pausing is not supported: os.Process.Signal rejects these with an error.
const (
	pauseSignal  = syscall.Signal(-1)
	resumeSignal = syscall.Signal(-1)
)

func dieWithParent() *syscall.SysProcAttr { return nil }
