//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package stack

// tryLock always succeeds where flock is unavailable: two processes may then build the same program at the same time. Each
// builds under its own name and renames the result, so the program is complete in either case.
func tryLock(string) (unlock func(), ok bool, err error) { return func() {}, true, nil }
