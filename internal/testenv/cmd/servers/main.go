// Command servers prints the paths of the local stack's programs, and builds those that are missing, several at a time on
// machines with more than two cores.
//
//	go run ./internal/testenv/cmd/servers            # all of them
//	go run ./internal/testenv/cmd/servers promtool   # one
//
// Paths go to standard output, one per line in the order of the arguments; progress goes to standard error.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, out io.Writer, log *slog.Logger) error {
	if len(names) == 0 {
		names = stack.Programs()
	}
	paths, err := stack.Binaries(ctx, log, names...)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := fmt.Fprintln(out, path); err != nil {
			return err
		}
	}
	return nil
}
