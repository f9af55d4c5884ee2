// Command traceplot writes a trace of the running demo as an SVG, with the traces that it links to:
//
//	go run ./internal/testenv/cmd/traceplot > docs/previews/trace.svg
//	go run ./internal/testenv/cmd/traceplot --service=owner-labels --operation="reconcile owner"
//	go run ./internal/testenv/cmd/traceplot 4bf92f3577b34da6a3ce929d0e0e4736
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/waterfall"
)

func main() {
	app := kingpin.New("traceplot", "Write a trace and the traces that it links to as an SVG to standard output.")
	address := app.Flag("jaeger", "Address of Jaeger's API.").Default("http://127.0.0.1:16686").String()
	service := app.Flag("service", "Service of the trace.").Default("widgets").String()
	operation := app.Flag("operation", "Name of a span of the trace.").Default("reconcile widgets").String()
	id := app.Arg("trace", "ID of the trace. Defaults to the trace with the most kinds of spans in its picture among the last thousand, preferably with a retry.").String()
	kingpin.MustParse(app.Parse(os.Args[1:]))

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j := &stack.Jaeger{URL: *address}
	traces, err := find(ctx, j, *id, *service, *operation)
	if err != nil {
		fmt.Fprintln(os.Stderr, "traceplot:", err)
		os.Exit(1)
	}
	fmt.Print(waterfall.SVG(traces))
}

// find returns a trace and all traces that it links to.
func find(ctx context.Context, j *stack.Jaeger, id, service, operation string) ([][]stack.TraceSpan, error) {
	if id != "" {
		t, err := j.Trace(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(t) == 0 {
			return nil, fmt.Errorf("no trace %s: the demo's Jaeger keeps traces for a few minutes", id)
		}
		return linked(ctx, j, t)
	}
	last, err := j.Traces(ctx, service, operation, 1000)
	if err != nil {
		return nil, err
	}
	var best [][]stack.TraceSpan
	for _, t := range last {
		all, err := linked(ctx, j, t)
		if err != nil {
			return nil, err
		}
		if len(t) > 2 && score(all) > score(best) { // two spans, a root and its queue time, are not a complete trace
			best = all
		}
	}
	if best == nil {
		return nil, errors.New("no trace of " + operation)
	}
	return best, nil
}

// most is the maximum number of traces in a picture.
const most = 6

// linked returns a trace and those that it links to, directly or through others.
func linked(ctx context.Context, j *stack.Jaeger, t []stack.TraceSpan) ([][]stack.TraceSpan, error) {
	all := [][]stack.TraceSpan{t}
	seen := map[string]bool{}
	for i := 0; i < len(all) && len(all) < most; i++ {
		for _, s := range all[i] {
			seen[s.TraceID] = true
			for _, id := range s.Links {
				if seen[id] {
					continue
				}
				seen[id] = true
				cause, err := j.Trace(ctx, id)
				if err != nil {
					return nil, err
				}
				if len(cause) > 0 {
					all = append(all, cause)
				}
			}
		}
	}
	return all, nil
}

// score counts the names of the spans, and adds one if there are three traces: an event, an attempt, and its retry.
func score(traces [][]stack.TraceSpan) int {
	names := map[string]bool{}
	for _, s := range slices.Concat(traces...) {
		names[s.Name] = true
	}
	n := len(names)
	if len(traces) == 3 {
		n++
	}
	return n
}
