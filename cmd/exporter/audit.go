package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
)

// auditCommand returns the commands that read audit logs.
func auditCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("audit", "Observe the clients of API servers by their audit logs.")
	cmd.RunE = func(*cobra.Command, []string) error { return errors.New("report or serve is required") }
	cmd.AddCommand(auditReportCommand(stderr), auditServeCommand(stderr))
	return cmd
}

// auditReportFlags are the flags of audit report.
type auditReportFlags struct {
	client       string
	since, until string
	output       *string
}

// auditReportCommand returns the command that describes the clients in audit logs.
func auditReportCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("report FILE...", "Report the clients in audit logs of the API server: their watches, early ends, relists, gaps, lists, conflicts, repeated reads and hot loops. Files may be rotated, compressed, or of several API servers (- for standard input). Exit code 0: no lost watch, 1: a client has lost a watch and still sends requests, 2: the files cannot be read.")
	f := &auditReportFlags{}
	cmd.Flags().StringVar(&f.client, "client", "", "Report only clients with this `TEXT` in their user or user agent.")
	cmd.Flags().StringVar(&f.since, "since", "", "Ignore events before this `TIME`: RFC 3339, or a duration before now such as 2h.")
	cmd.Flags().StringVar(&f.until, "until", "", "Ignore events after this `TIME`.")
	f.output = registerOutput(cmd.Flags())
	cmd.Args = cobra.MinimumNArgs(1)
	execute(cmd, func(ctx context.Context, files []string, stdout io.Writer) error {
		r, err := f.read(ctx, files, os.Stdin, stderr)
		if err != nil {
			return usageError{err}
		}
		return writeProblems(stdout, *f.output, r, r.Print, r.Lost() > 0)
	})
	return cmd
}

func (f *auditReportFlags) read(ctx context.Context, paths []string, stdin io.Reader, stderr io.Writer) (r report.Report, err error) {
	o := report.Options{Client: f.client}
	for _, limit := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", f.since, &o.Since}, {"until", f.until, &o.Until}} {
		if *limit.to, err = parseTime(limit.text, time.Now()); err != nil {
			return r, fmt.Errorf("--%s: %w", limit.flag, err)
		}
	}
	files, err := report.Open(paths, stdin)
	if err != nil {
		return r, err
	}
	end := showBytes(stderr, files)
	r, err = report.Of(ctx, files, o)
	end()
	if err != nil && (ctx.Err() != nil || r.Events == 0) {
		return r, err
	}
	if err != nil { // the rest is reported
		fmt.Fprintln(stderr, message(err))
	}
	if r.Events == 0 {
		return r, errors.New("no audit events (audit.k8s.io/v1, one per line) in the files")
	}
	return r, nil
}

// parseTime returns a time given as such or as a duration before now, or the zero time for an empty text.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%q is neither a time as in RFC 3339 nor a duration", text)
	}
	return at, nil
}

// showBytes writes how much has been read every few seconds, until the returned function is called.
func showBytes(stderr io.Writer, files *report.Files) (end func()) {
	return repeat(3*time.Second, func() {
		const mebi = 1 << 20
		if files.Bytes > 0 {
			fmt.Fprintf(stderr, "read %d of %d MiB\n", files.Read.Load()/mebi, files.Bytes/mebi)
		} else {
			fmt.Fprintf(stderr, "read %d MiB\n", files.Read.Load()/mebi)
		}
	})
}
