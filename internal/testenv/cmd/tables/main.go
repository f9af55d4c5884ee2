// Command tables writes the tables of docs/faults.md, docs/detection.md, docs/dev/chaos.md and docs/dev/requirements.md. `make generate` runs it from the
// root of the repository.
package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
	"github.com/informer-exporter/informer-exporter/test/bugs"
	"github.com/informer-exporter/informer-exporter/test/chaos"
	"github.com/informer-exporter/informer-exporter/test/docs"
	"github.com/informer-exporter/informer-exporter/test/faults"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func run() error {
	requirements, err := docs.Requirements(".")
	if err != nil {
		return err
	}
	detection, err := bugs.Markdown()
	if err != nil {
		return err
	}
	tables := []struct{ file, name, text string }{
		{"faults.md", "faults", faults.Markdown()},
		{"faults.md", "demo", demoFaults()},
		{"dev/chaos.md", "chaos", chaos.Markdown()},
		{"detection.md", "detection", detection},
	}
	for name, text := range requirements {
		tables = append(tables, struct{ file, name, text string }{"dev/requirements.md", name, text})
	}
	for _, table := range tables {
		if err := write(filepath.Join("docs", table.file), table.name, table.text); err != nil {
			return err
		}
	}
	return nil
}

// write writes nothing if the page is up to date: a test may be reading it.
func write(file, name, text string) error {
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after, err := page.Replace(string(before), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if after == string(before) {
		return nil
	}
	return os.WriteFile(file, []byte(after), 0o644)
}

// demoFaults returns the table of the demo's faults, and what check prints.
func demoFaults() string {
	text := page.Head("Fault", "What happens", "Alert")
	printed := map[string][]string{}
	for _, f := range chain.Faults() {
		text += page.Row("`"+f.Name+"`", f.Does, cmp.Or(f.Alert, "none"))
		if f.Check != "" {
			printed[f.Check] = append(printed[f.Check], "`"+f.Name+"`")
		}
	}
	text += "\nWhat `informer-exporter check` prints with the exporter's kubeconfig and configuration:\n\n"
	for _, check := range slices.Sorted(maps.Keys(printed)) {
		text += "- `" + check + "`: " + strings.Join(printed[check], ", ") + "\n"
	}
	return text
}
