// Command metricdiff reads deploy/metrics.md of an older version from standard input, compares it with the file that it gets as its
// argument, and prints the metrics that were added, removed, renamed or changed. It fails if queries of a stable metric break.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricdiff"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "metricdiff:", err)
		os.Exit(1)
	}
}

func run(args []string, older io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want a file", len(args))
	}
	old, err := io.ReadAll(older)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	before, err := metricdiff.Parse(string(old))
	if err != nil {
		return fmt.Errorf("the older version: %w", err)
	}
	now, err := metricdiff.Parse(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	broken := 0
	for _, c := range metricdiff.Compare(before, now) {
		fmt.Fprintln(out, c)
		if c.Stability == catalog.Stable { // each of their changes can break a query
			broken++
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d stable metrics break: keep them until the next major version, see docs/versioning.md", broken)
	}
	return nil
}
