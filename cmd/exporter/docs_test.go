package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const flagsPage = "../../docs/flags.md"

const flagsIntroduction = `# Commands and flags

The output of ` + "`informer-exporter [command] --help`" + `. See [Exporter](exporter.md) and
[Configuration](../deploy/configuration.md).

For shell completion:

` + "```sh" + `
source <(informer-exporter completion bash)    # ~/.bashrc, with bash-completion
source <(informer-exporter completion zsh)     # ~/.zshrc, after compinit
informer-exporter completion fish | source     # ~/.config/fish/config.fish
` + "```" + `

` + "`kubectl_complete-informers`, beside the program, completes `kubectl informers` if it is in `$PATH`" + `.
`

// docs/flags.md is the output of --help. UPDATE=1 writes it.
func TestFlagsAreDocumented(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("exporter-toolkit has a flag that is for Linux only")
	}
	var page strings.Builder
	page.WriteString(flagsIntroduction)
	for _, args := range documented(rootCommand(io.Discard), nil) {
		var help output
		if err := run(context.Background(), append(args, "--help"), &help, &help); err != nil {
			t.Fatal(err)
		}
		page.WriteString("\n## " + strings.Join(append([]string{"informer-exporter"}, args...), " ") + "\n\n```text\n")
		for line := range strings.Lines(strings.TrimSpace(help.String())) {
			page.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		page.WriteString("```\n")
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(flagsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(flagsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page.String() {
		t.Errorf("docs/flags.md differs from the output of the program; write it with UPDATE=1. The output is:\n%s", &page)
	}
}

// documented returns the names of the commands with flags, and of the program.
func documented(c *cobra.Command, args []string) (all [][]string) {
	if !c.HasParent() || c.HasAvailableLocalFlags() {
		all = append(all, args)
	}
	for _, sub := range c.Commands() {
		all = append(all, documented(sub, append(slices.Clone(args), sub.Name()))...)
	}
	return all
}
