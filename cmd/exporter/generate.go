package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/generate"
)

// generateCommand returns the command generate.
func generateCommand() *cobra.Command {
	cmd := newCommand("generate --out=DIR", "Write dashboards, alert rules, Alertmanager routes, runbooks, manifests and documentation.")
	var out, file, exporterFile, schema string
	cmd.Flags().StringVar(&out, "out", "", "Output `DIR`. Removes generated files that are no longer needed, unless changed by hand.")
	cmd.Flags().StringVar(&file, "config.file", "", "Configuration `FILE` of the generator: objectives, URLs, Alertmanager.")
	cmd.Flags().StringVar(&exporterFile, "exporter.config.file", "", "Configuration `FILE` of serve. kubernetes/rbac.yaml grants what it requires.")
	cmd.Flags().StringVar(&schema, "grafana-schema", "classic", "`SCHEMA` of the dashboards: classic for Grafana 10 and later, v2 with tabs for Grafana 13.")
	require(cmd, "out")
	execute(cmd, func(_ context.Context, _ []string, stdout io.Writer) error {
		c := generate.DefaultConfig()
		if file != "" {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if c, err = generate.ParseConfig(raw); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		if exporterFile != "" {
			raw, err := os.ReadFile(exporterFile)
			if err != nil {
				return err
			}
			e, err := config.Parse(raw)
			if err != nil {
				return fmt.Errorf("%s: %w", exporterFile, err)
			}
			c = c.ForExporter(e)
		}
		switch schema {
		case "classic":
		case "v2":
			c = c.WithSchema2()
		default:
			return usageError{fmt.Errorf("--grafana-schema: %q is neither classic nor v2", schema)}
		}
		files, err := generate.Files(c)
		if err != nil {
			return err
		}
		left, err := generate.Write(out, files)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "wrote %d files to %s\n", len(files), out)
		for _, path := range left {
			fmt.Fprintf(stdout, "kept %s: no longer generated, but changed by hand\n", filepath.Join(out, path))
		}
		return nil
	})
	return cmd
}
