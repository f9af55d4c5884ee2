// Command exporter watches a Kubernetes cluster through informers and exports metrics about them to Prometheus. See
// "informer-exporter --help".
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// maxErrorLines is more than the errors of a configuration file usually have.
const maxErrorLines = 50

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // failed; for check and explain: problems found
	exitUsage = 2 // invalid command line; for check and explain, also a cluster or program that cannot be asked
)

func main() {
	err := run(untilSignal(), arguments(os.Args), os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, errProblems) {
		fmt.Fprintln(os.Stderr, buildinfo.Name+":", message(err))
	}
	os.Exit(exitCode(err))
}

// message returns the text of an error. Each line is limited: errors of the API server may have any text.
func message(err error) string {
	lines := strings.SplitN(err.Error(), "\n", maxErrorLines+1)
	for i, line := range lines {
		lines[i] = untrusted.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. The second one terminates the program.
func untilSignal() context.Context {
	signals, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(signals, func() {
		stop() // first: a signal that arrives while the program shuts down must not be lost
		cancel(context.Cause(signals))
	})
	return ctx
}

// usageError is an invalid command line or, for check, a cluster that cannot be checked.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	default:
		return exitError
	}
}
