package chain

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// ExporterConfig returns the path of the exporter's configuration file.
func (c *Chain) ExporterConfig() string { return filepath.Join(c.dir, "exporter.yaml") }

// configureExporter writes the exporter's configuration, which the exporter reloads when it changes.
func (c *Chain) configureExporter(config map[string]any) error {
	content, err := yaml.Marshal(config)
	if err != nil {
		return fmt.Errorf("configuration of the exporter: %w", err)
	}
	// The file is replaced atomically, as in a ConfigMap: the exporter must not read an incomplete file.
	next := c.ExporterConfig() + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.ExporterConfig())
}

// reconfigure changes one field of the exporter's configuration.
func reconfigure(field string, value any) func(context.Context, *Chain) (func(context.Context) error, error) {
	return func(_ context.Context, c *Chain) (func(context.Context) error, error) {
		config := maps.Clone(c.options.Exporter)
		if config == nil {
			config = map[string]any{}
		}
		config[field] = value
		restore := func(context.Context) error { return c.configureExporter(c.options.Exporter) }
		return restore, c.configureExporter(config)
	}
}

func killExporter(_ context.Context, c *Chain) (func(context.Context) error, error) {
	return c.Exporter.Start, c.Exporter.Kill()
}
