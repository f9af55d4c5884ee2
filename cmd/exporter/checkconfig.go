package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
)

// checkConfigCommand returns the command check-config.
func checkConfigCommand() *cobra.Command {
	cmd := newCommand("check-config FILE", "Check the syntax and values of a configuration file, without a cluster.")
	cmd.Args = cobra.ExactArgs(1)
	execute(cmd, func(_ context.Context, args []string, stdout io.Writer) error {
		path := args[0]
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := config.Parse(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		_, err = fmt.Fprintf(stdout, "%s is valid\n", path)
		return err
	})
	return cmd
}
