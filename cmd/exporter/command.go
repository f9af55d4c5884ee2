package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// help is the template of help texts. Their width does not depend on the terminal, because docs/flags.md has the same text.
const help = `usage: {{.UseLine}}

{{.Long}}
{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if .IsAvailableCommand}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}
Run {{.CommandPath}} <command> --help for the flags of a command.
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsagesWrapped 100}}{{end}}`

// newCommand returns a command without flags. Its usage begins with its name. The first sentence of its help, up to a colon, is the
// line in the list of commands.
func newCommand(usage, help string) *cobra.Command {
	summary, _, _ := strings.Cut(help, ". ")
	summary, _, _ = strings.Cut(strings.TrimSuffix(summary, "."), ": ")
	c := &cobra.Command{Use: usage, Short: summary + ".", Long: help, Args: cobra.NoArgs}
	c.Flags().SortFlags = false
	return c
}

// execute sets what a command does once its flags have been parsed. Results are written to stdout.
func execute(c *cobra.Command, run func(ctx context.Context, args []string, stdout io.Writer) error) {
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := run(c.Context(), args, c.OutOrStdout()); err != nil {
			return failed{err}
		}
		return nil
	}
}

// failed is an error of a command, other than one of the command line.
type failed struct{ error }

// require makes a flag required.
func require(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // the command has no such flag
	}
}

// choice is a flag value with a fixed set of options.
type choice struct {
	flag.Value
	options []string
}

// Type returns the placeholder of the value in help texts.
func (c choice) Type() string { return strings.Join(c.options, "|") }

// Set returns the same form of error for all flags, unlike the embedded values.
func (c choice) Set(text string) error {
	if !slices.Contains(c.options, text) {
		return fmt.Errorf("must be one of %s", strings.Join(c.options, ", "))
	}
	return c.Value.Set(text)
}
