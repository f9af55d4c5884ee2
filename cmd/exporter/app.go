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

const description = `Exports metrics about the informers of a Kubernetes cluster: sync, lag, watch health and consistency with the API server. The default command is serve.`

// command runs one of the program's commands after its flags were parsed.
type command func(ctx context.Context) error

// run parses args and runs a command. Results are written to stdout, logs and usage errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	version.Version = buildinfo.Version() // for builds without linker flags

	// kingpin exits after --help and --version. A function under test must return.
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
	commands[app.Command("version", "Print version and build information.").FullCommand()] = func(context.Context) error {
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
