package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/cost"
	"github.com/informer-exporter/informer-exporter/internal/exporter/discovery"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// costFlags are the flags of cost.
type costFlags struct {
	configFile, kubeconfig string
	output                 *string
	program                *programFlags
}

// Values of --output.
const (
	outputTable = "table"
	outputJSON  = "json"
)

// registerOutput adds the flag of commands that write a report.
func registerOutput(flags *pflag.FlagSet) *string {
	formats := flag.NewFlagSet("", flag.ContinueOnError)
	format := formats.String("output", outputTable, "")
	flags.VarP(choice{formats.Lookup("output").Value, []string{outputTable, outputJSON}}, "output", "o", "Output format.")
	return format
}

// writeReport writes a report as JSON, or as a table.
func writeReport(w io.Writer, format string, report any, table func(io.Writer) error) error {
	if format != outputJSON {
		return table(w)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

// writeProblems writes a report, and returns errProblems if it has found problems.
func writeProblems(w io.Writer, format string, report any, table func(io.Writer) error, found bool) error {
	if err := writeReport(w, format, report, table); err != nil || !found {
		return err
	}
	return errProblems
}

// costCommand returns the command cost.
func costCommand() *cobra.Command {
	cmd := newCommand("cost", "Estimate an exporter's series, API server requests and memory in a cluster. Sends one list request with limit 1 per resource to count its objects. With --url, report what the caches of a program would save without managedFields or with metadata only.")
	f := &costFlags{}
	cmd.Flags().StringVar(&f.configFile, "config.file", "", "Configuration `FILE` to compare with the defaults.")
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "Kubeconfig `FILE`. Defaults to the one that kubectl uses.")
	f.output = registerOutput(cmd.Flags())
	f.program = registerProgram(cmd)
	execute(cmd, func(ctx context.Context, _ []string, stdout io.Writer) error {
		if f.program.address != "" {
			return costOfCaches(ctx, f.program, *f.output, stdout)
		}
		return f.run(ctx, stdout)
	})
	return cmd
}

// costReport is the output of cost.
type costReport struct {
	Server     string         `json:"server"`
	Default    cost.Estimate  `json:"default"`
	Configured *cost.Estimate `json:"configured,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

func (f *costFlags) run(ctx context.Context, stdout io.Writer) error {
	silence()
	file, err := config.Open(f.configFile)
	if err != nil {
		return err
	}
	limitMemory(ctx, slog.New(slog.DiscardHandler))
	connecting, err := client.UserConfig(f.kubeconfig, "")
	if err != nil {
		return err
	}
	connection, err := client.Connect(connecting, buildinfo.Name+"/"+buildinfo.Version(), func(c *rest.Config) *rest.Config { return c }, nil)
	if err != nil {
		return err
	}
	defer connection.Disconnect()
	cluster, err := discovery.Look(ctx, connection.Discover)
	if err != nil {
		return err
	}
	counter := cost.NewCounter(connection.Metadata)
	report := costReport{Server: connecting.Host}
	estimate := func(c config.Config) (cost.Estimate, []string, error) {
		informers, notes, err := counter.Informers(ctx, cluster, c)
		return cost.Of(c, informers), notes, err
	}
	defaults, byDefault, err := estimate(config.Config{})
	if err != nil && (f.configFile == "" || ctx.Err() != nil) {
		return err
	}
	if err != nil { // with Roles in some namespaces only, the default resources cannot be listed
		byDefault = []string{err.Error()}
	}
	report.Default, report.Notes = defaults, byDefault
	if f.configFile != "" {
		configured, notes, err := estimate(file.Config())
		if err != nil {
			return err
		}
		for _, note := range byDefault {
			if !slices.Contains(notes, note) {
				notes = append(notes, "by default, "+note)
			}
		}
		report.Configured, report.Notes = &configured, notes
	}
	for i, note := range report.Notes {
		report.Notes[i] = untrusted.Printable(note)
	}
	return writeReport(stdout, *f.output, report, func(w io.Writer) error { return report.print(w, f.configFile) })
}

// largest is the number of resources in the table.
const largest = 10

// print writes the report as a table.
func (r costReport) print(stdout io.Writer, configFile string) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	estimates, header := []cost.Estimate{r.Default}, "\tDEFAULT\t"
	if r.Configured != nil {
		estimates, header = append(estimates, *r.Configured), header+configFile+"\t"
	}
	fmt.Fprintln(w, header)
	for _, row := range []struct {
		name, format string
		value        func(cost.Estimate) any
	}{
		{"resources", "%d", func(e cost.Estimate) any { return e.Resources }},
		{"informers", "%d", func(e cost.Estimate) any { return e.Informers }},
		{"objects", "%d", func(e cost.Estimate) any { return e.Objects }},
		{"series", "%d", func(e cost.Estimate) any { return e.Series }},
		{"memory, MiB", "%.0f", func(e cost.Estimate) any { return float64(e.MemoryBytes) / (1 << 20) }},
		{"requests per minute", "%.1f", func(e cost.Estimate) any { return e.Requests.Total }},
		{"of which watches", "%.1f", func(e cost.Estimate) any { return e.Requests.Watches }},
		{"freshness checks", "%.1f", func(e cost.Estimate) any { return e.Requests.FreshnessChecks }},
		{"lists of audits", "%.1f", func(e cost.Estimate) any { return e.Requests.AuditLists }},
		{"checks of the watch cache", "%.1f", func(e cost.Estimate) any { return e.Requests.WatchCacheLists }},
		{"discovery", "%.1f", func(e cost.Estimate) any { return e.Requests.Discovery }},
		{"requests per minute without bookmarks", "%.1f", func(e cost.Estimate) any { return e.Requests.WithoutBookmarks }},
	} {
		fmt.Fprintf(w, "%s\t", row.name)
		for _, e := range estimates {
			fmt.Fprintf(w, row.format+"\t", row.value(e))
		}
		fmt.Fprintln(w)
	}
	failed := w.Flush()
	last := estimates[len(estimates)-1]
	fmt.Fprintf(stdout, "\nLargest of %d resources:\n", last.Resources)
	fmt.Fprintln(w, "\tOBJECTS\tSERIES\tMEMORY, MiB\tLISTS PER MINUTE\t")
	for _, s := range last.ByResource[:min(largest, len(last.ByResource))] {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\t\n", s.Resource, s.Objects, s.Series, float64(s.MemoryBytes)/(1<<20), s.AuditLists)
	}
	failed = errors.Join(failed, w.Flush())
	for _, note := range r.Notes {
		_, err := fmt.Fprintf(stdout, "\nNote: %s.", note)
		failed = errors.Join(failed, err)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(stdout)
	}
	return failed
}
