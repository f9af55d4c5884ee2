package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
)

// registerCheckConfig adds the command check-config.
func registerCheckConfig(app *kingpin.Application) (cmd *kingpin.CmdClause, run func(stdout io.Writer) error) {
	cmd = app.Command("check-config", "Check the syntax and values of a configuration file, without a cluster.")
	path := cmd.Arg("FILE", "Path to the configuration file.").Required().String()

	return cmd, func(stdout io.Writer) error {
		data, err := os.ReadFile(*path)
		if err != nil {
			return err
		}
		if _, err := config.Parse(data); err != nil {
			return fmt.Errorf("%s: %w", *path, err)
		}
		_, err = fmt.Fprintf(stdout, "%s can be used\n", *path)
		return err
	}
}
