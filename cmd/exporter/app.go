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
	commands := []*command{serve, pushCommand(stderr), generateCommand(), checkCommand(stderr), explainCommand(), checkConfigCommand(), costCommand(), auditReportCommand(stderr), auditServeCommand(stderr), completionCommand(), versions}

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
			c, rest := named(commands, args)
			if c == nil {
				return usageError{fmt.Errorf("unknown command %q; see %s --help", first, buildinfo.Name)}
			}
			selected, args = c, rest
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

// named returns the command that args begin with, which has one word or two, and the arguments after it. It returns nil if there is none.
func named(commands []*command, args []string) (*command, []string) {
	for _, c := range commands {
		if words := strings.Fields(c.name); len(args) >= len(words) && slices.Equal(words, args[:len(words)]) {
			return c, args[len(words):]
		}
	}
	return nil, args
}

func printHelp(w io.Writer, commands []*command) error {
	text := fmt.Sprintf("usage: %s [command] [flags]\n\n%s\n\nCommands:\n", buildinfo.Name, description)
	for _, c := range commands {
		summary, _, _ := strings.Cut(c.help, ". ")
		summary, _, _ = strings.Cut(strings.TrimSuffix(summary, "."), ": ")
		text += fmt.Sprintf("  %s\n      %s.\n", c.usage(), summary)
	}
	_, err := fmt.Fprintf(w, "%s\nRun %s <command> --help for the flags of a command.\n", text, buildinfo.Name)
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
