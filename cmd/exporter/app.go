package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prometheus/common/version"
	"github.com/spf13/pflag"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
)

const description = `Watches a Kubernetes cluster through informers and exports their sync, lag, watch health and consistency
with the API server.`

// run parses args and runs a command. Results are written to stdout, logs to stderr. The first argument is the command,
// unless it is a flag: then the command is serve.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	version.Version = buildinfo.Version() // for builds without linker flags

	serve := serveCommand(stderr)
	versions := newCommand("version", "Print version and build information.")
	versions.run = func(_ context.Context, _ []string, stdout io.Writer) error {
		_, err := fmt.Fprintln(stdout, buildinfo.Print())
		return err
	}
	commands := []*command{serve, pushCommand(stderr), generateCommand(), checkCommand(stderr), checkConfigCommand(), costCommand(), auditServeCommand(stderr), completionCommand(), versions}

	selected := serve
	if len(args) > 0 {
		switch first := args[0]; {
		case slices.Contains([]string{"--help", "-h", "help"}, first):
			return printHelp(stdout, commands)
		case first == completeCommand:
			return complete(stdout, commands, args[1:])
		case first == "--version":
			selected, args = versions, nil
		case !strings.HasPrefix(first, "-"):
			i, words := named(commands, args)
			if i < 0 {
				return usageError{fmt.Errorf("unknown command %q; see %s --help", strings.Join(args[:words], " "), buildinfo.Name)}
			}
			selected, args = commands[i], args[words:]
		}
	}
	positional, err := selected.parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return selected.printHelp(stdout)
	case err != nil:
		return usageError{fmt.Errorf("%w; see %s %s --help", err, buildinfo.Name, selected.name)}
	}
	return selected.run(ctx, positional, stdout)
}

// named returns the index of the command that args begin with, or -1, and the number of words of its name: one or two.
func named(commands []*command, args []string) (i, words int) {
	words = 1
	if len(args) > 1 && slices.ContainsFunc(commands, func(c *command) bool { return strings.HasPrefix(c.name, args[0]+" ") }) {
		words = 2
	}
	name := strings.Join(args[:words], " ")
	return slices.IndexFunc(commands, func(c *command) bool { return c.name == name }), words
}

func printHelp(w io.Writer, commands []*command) error {
	text := fmt.Sprintf("usage: %s [command] [flags]\n\n%s\n\nCommands:\n", buildinfo.Name, description)
	for _, c := range commands {
		summary, _, _ := strings.Cut(c.help, ". ")
		text += fmt.Sprintf("  %s\n      %s\n", c.usage(), strings.TrimSuffix(summary, ".")+".")
	}
	_, err := fmt.Fprintf(w, "%s\nThe default command is serve. Run %s <command> --help for the flags of a command.\n", text, buildinfo.Name)
	return err
}

func (c *command) printHelp(w io.Writer) error {
	text := fmt.Sprintf("usage: %s %s\n\n%s\n", buildinfo.Name, c.usage(), c.help)
	if c.flags.HasFlags() {
		text += "\nFlags:\n" + c.flags.FlagUsagesWrapped(helpWidth)
	}
	_, err := io.WriteString(w, text)
	return err
}
