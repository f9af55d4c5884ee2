package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
)

const flagsPage = "../../docs/flags.md"

const flagsIntroduction = `# Commands and flags

The output of ` + "`informer-exporter [command] --help`" + `. See [Exporter](exporter.md) and
[Configuration](../deploy/configuration.md).

For shell completion:

` + "```sh" + `
source <(informer-exporter completion bash)    # ~/.bashrc
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
	for _, command := range commandNames(t) {
		var help output
		if err := run(context.Background(), append(command.args, "--help"), &help, &help); err != nil {
			t.Fatal(err)
		}
		if command.args != nil && !strings.Contains(help.String(), "\nFlags:\n") {
			continue // the list of commands has all of it
		}
		page.WriteString("\n## " + command.title + "\n\n```text\n")
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

type documented struct {
	title string
	args  []string
}

// commandNames returns the commands that the program's own help lists.
func commandNames(t *testing.T) []documented {
	t.Helper()
	var help output
	if err := run(context.Background(), []string{"--help"}, &help, &help); err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(help.String(), "\nCommands:\n")
	if !ok {
		t.Fatalf("no list of commands:\n%s", &help)
	}
	all := []documented{{"informer-exporter", nil}}
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") {
			continue
		}
		var name []string
		for _, word := range strings.Fields(line) {
			if strings.IndexAny(word, "-<[") == 0 {
				break
			}
			name = append(name, word)
		}
		all = append(all, documented{"informer-exporter " + strings.Join(name, " "), name})
	}
	if len(all) < 5 {
		t.Fatalf("only %v:\n%s", all, &help)
	}
	return all
}
