package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prometheus/common/version"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
)

const description = `Watches a Kubernetes cluster through informers and exports their sync, lag, watch health and consistency
with the API server.`

// run parses args and runs a command. Results are written to stdout, logs to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	version.Version = buildinfo.Version() // for builds without linker flags
	root := rootCommand(stderr)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(withDefault(args))
	selected, err := root.ExecuteContextC(ctx)
	var f failed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f.error
	default:
		return usageError{fmt.Errorf("%w; see %s --help", err, selected.CommandPath())}
	}
}

// rootCommand returns the command that has all others.
func rootCommand(stderr io.Writer) *cobra.Command {
	root := newCommand(buildinfo.Name+" [command]", description)
	root.Args = nil // so that cobra names an unknown command
	root.Version = buildinfo.Print()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpTemplate(help)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().BoolP("help", "h", false, "")
	_ = root.PersistentFlags().MarkHidden("help") // the same in each command
	root.Flags().Bool("version", false, "")
	_ = root.Flags().MarkHidden("version") // also a command
	versions := newCommand("version", "Print version and build information.")
	execute(versions, func(_ context.Context, _ []string, stdout io.Writer) error {
		_, err := fmt.Fprintln(stdout, root.Version)
		return err
	})
	root.AddCommand(serveCommand(stderr), pushCommand(stderr), generateCommand(), checkCommand(stderr), explainCommand(), checkConfigCommand(),
		costCommand(), auditCommand(stderr), versions)
	completeChoices(root)
	return root
}

// withDefault returns args with the default command, serve, if they name none. Help and version are those of the program.
func withDefault(args []string) []string {
	if len(args) == 0 {
		return []string{"serve"}
	}
	at := 0
	if args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd {
		at = 1
	}
	if len(args) == at || !strings.HasPrefix(args[at], "-") || slices.Contains([]string{"--help", "-h", "--version"}, args[at]) {
		return args
	}
	return slices.Insert(slices.Clone(args), at, "serve")
}

// completeChoices makes shells complete the options of flags with a fixed set of them.
func completeChoices(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if value, ok := f.Value.(choice); ok {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(value.options, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, sub := range c.Commands() {
		completeChoices(sub)
	}
}
