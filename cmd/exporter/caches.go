package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// cachesReport is what the table shows of the response of inspect.CachesPath.
type cachesReport struct {
	Name   string
	Caches []cacheReport
}

type cacheReport struct {
	InformerType, WatchNamespace string
	Objects                      int
	TotalBytes                   float64
	Savings                      struct{ WithoutManagedFields, MetadataOnly, Both float64 }
}

// costOfCaches writes the memory of a program's caches, and what other forms of them would save.
func costOfCaches(ctx context.Context, program *programFlags, output string, stdout io.Writer) error {
	var r cachesReport
	raw, err := program.get(ctx, inspect.CachesPath, nil, &r)
	if err != nil {
		return err
	}
	return writeReport(stdout, output, raw, r.table)
}

func (r cachesReport) table(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tOBJECTS\tMEMORY, KiB\tWITHOUT MANAGEDFIELDS\tMETADATA ONLY\tBOTH\tPER OBJECT\t")
	var sum cacheReport
	row := func(name string, c cacheReport) {
		per := ""
		if c.Objects > 0 {
			per = kibi(c.TotalBytes / float64(c.Objects))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t-%s\t-%s\t-%s\t%s\t\n", untrusted.Printable(name), c.Objects, kibi(c.TotalBytes),
			kibi(c.Savings.WithoutManagedFields), kibi(c.Savings.MetadataOnly), kibi(c.Savings.Both), per)
	}
	for _, c := range r.Caches {
		name := c.InformerType
		if c.WatchNamespace != "*" {
			name += " in " + c.WatchNamespace
		}
		row(name, c)
		sum.Objects += c.Objects
		sum.TotalBytes += c.TotalBytes
		sum.Savings.WithoutManagedFields += c.Savings.WithoutManagedFields
		sum.Savings.MetadataOnly += c.Savings.MetadataOnly
		sum.Savings.Both += c.Savings.Both
	}
	row("all", sum)
	note := "A selector saves the memory per object for each object that it excludes."
	if sum.TotalBytes == 0 {
		note = "No estimates: set collectors.Checks.Memory in the program, and wait for its interval."
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, "\n"+note)
	return err
}

func kibi(bytes float64) string { return fmt.Sprintf("%.1f", bytes/(1<<10)) }
