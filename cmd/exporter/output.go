package main

import (
	"encoding/json"
	"flag"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
)

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

// connect returns the clients of a command without metrics.
func connect(config *rest.Config) (*client.Connection, error) {
	return client.Connect(config, buildinfo.Name+"/"+buildinfo.Version(), func(c *rest.Config) *rest.Config { return c }, nil)
}
