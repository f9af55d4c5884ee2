package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/generate"
)

// registerGenerate adds the command generate. run executes it after the command line was parsed.
func registerGenerate(app *kingpin.Application) (cmd *kingpin.CmdClause, run func(ctx context.Context, stdout io.Writer) error) {
	cmd = app.Command("generate", "Write dashboards, alert rules, Alertmanager routes, runbooks, manifests and reference documentation.")
	out := cmd.Flag("out", "Directory to write to. Generated files that are no longer needed are removed.").Required().PlaceHolder("DIR").String()
	file := cmd.Flag("config.file", "Path to the generator's configuration: objectives, URLs, Alertmanager.").PlaceHolder("FILE").String()
	exporterFile := cmd.Flag("exporter.config.file", "Path to the configuration file of serve. kubernetes/rbac.yaml grants what it requires.").PlaceHolder("FILE").String()

	return cmd, func(_ context.Context, stdout io.Writer) error {
		c := generate.DefaultConfig()
		if *file != "" {
			raw, err := os.ReadFile(*file)
			if err != nil {
				return err
			}
			if c, err = generate.ParseConfig(raw); err != nil {
				return fmt.Errorf("%s: %w", *file, err)
			}
		}
		if *exporterFile != "" {
			raw, err := os.ReadFile(*exporterFile)
			if err != nil {
				return err
			}
			e, err := config.Parse(raw)
			if err != nil {
				return fmt.Errorf("%s: %w", *exporterFile, err)
			}
			c = c.ForExporter(e)
		}
		files, err := generate.Files(c)
		if err != nil {
			return err
		}
		left, err := generate.Write(*out, files)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "wrote %d files to %s\n", len(files), *out)
		for _, path := range left {
			fmt.Fprintf(stdout, "kept %s: no longer generated, but changed by hand\n", filepath.Join(*out, path))
		}
		return nil
	}
}
