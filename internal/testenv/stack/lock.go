package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock waits for tryLock, and calls waiting ten times a second.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	for {
		unlock, ok, err := tryLock(path)
		if err != nil || ok {
			return unlock, err
		}
		waiting()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another process: %w", context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tryLock takes an advisory lock that the kernel releases when the process exits.
func tryLock(path string) (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return func() { f.Close() }, true, nil
}
