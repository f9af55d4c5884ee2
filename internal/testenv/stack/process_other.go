//go:build !unix

package stack

import "syscall"

// There is no pausing here: os.Process.Signal refuses these with an error.
const (
	pauseSignal  = syscall.Signal(-1)
	resumeSignal = syscall.Signal(-1)
)

func dieWithParent() *syscall.SysProcAttr { return nil }
