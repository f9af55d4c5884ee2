// Command tables writes the tables of faults into docs/faults.md and docs/chaos.md. `make generate` runs it from the root of
// the repository.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
	"github.com/informer-exporter/informer-exporter/test/chaos"
	"github.com/informer-exporter/informer-exporter/test/faults"
)

func main() {
	for _, table := range []struct{ file, name, text string }{
		{"faults.md", "faults", faults.Markdown()},
		{"faults.md", "demo", demoFaults()},
		{"chaos.md", "healthy", chaos.HealthyMarkdown()},
		{"chaos.md", "chaos", chaos.Markdown()},
	} {
		if err := write(filepath.Join("docs", table.file), table.name, table.text); err != nil {
			fmt.Fprintln(os.Stderr, "tables:", err)
			os.Exit(1)
		}
	}
}

func write(file, name, text string) error {
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after, err := page.Replace(string(before), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(after), 0o644)
}

func demoFaults() string {
	text := page.Head("Fault", "What happens", "Alert")
	for _, f := range chain.Faults() {
		text += page.Row("`"+f.Name+"`", f.Does, cmp.Or(f.Alert, "none"))
	}
	return text
}
