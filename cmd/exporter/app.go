package main

import (
	"context"
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/common/version"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
)

const description = `Watches a Kubernetes cluster through informers of its own and reports to Prometheus whether they are fresh, complete and healthy. Without a command, it serves.`

// command is one of the program's commands: its flags are parsed, run does it.
type command func(ctx context.Context) error

// run parses args and runs the command that they name. What a command prints goes to stdout, logs and usage to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	version.Version = buildinfo.Version() // of a build without linker flags, too

	// kingpin prints and then exits for --help and --version; a function that is tested must return instead.
	ended := false
	app := kingpin.New(buildinfo.Name, description).
		UsageWriter(stdout).
		ErrorWriter(stderr).
		Terminate(func(int) { ended = true })
	app.Version(version.Print(buildinfo.Name))
	app.HelpFlag.Short('h')

	logging := &promslog.Config{Writer: stderr}
	registerLogging(app, logging)

	commands := map[string]command{}
	name, serve := registerServe(app, logging)
	commands[name] = serve
	name, push := registerPush(app, logging)
	commands[name] = push
	generate, runGenerate := registerGenerate(app)
	commands[generate.FullCommand()] = func(ctx context.Context) error { return runGenerate(ctx, stdout) }
	check, runCheck := registerCheckConfig(app)
	commands[check.FullCommand()] = func(context.Context) error { return runCheck(stdout) }
	commands[app.Command("version", "Print the version and how it was built.").FullCommand()] = func(context.Context) error {
		_, err := fmt.Fprintln(stdout, version.Print(buildinfo.Name))
		return err
	}

	selected, err := app.Parse(args)
	switch {
	case ended:
		return nil
	case err != nil:
		return usageError{fmt.Errorf("%w; see --help", err)}
	}
	return commands[selected](ctx)
}
