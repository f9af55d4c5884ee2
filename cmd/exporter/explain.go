package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// explainCommand returns the command explain.
func explainCommand() *cobra.Command {
	cmd := newCommand("explain --url=URL RESOURCE/NAMESPACE/NAME", "Ask a program with the library why an object, such as deployments/shop/web or nodes/node-1, is not in its desired state. Exit code 0: no known cause, 1: causes, 2: the program cannot be asked.")
	f := registerProgram(cmd)
	require(cmd, "url")
	cmd.Args = cobra.ExactArgs(1)
	output := registerOutput(cmd.Flags())
	execute(cmd, func(ctx context.Context, args []string, stdout io.Writer) error {
		query, err := objectQuery(args[0])
		if err != nil {
			return usageError{err}
		}
		var e explanation
		raw, err := f.get(ctx, inspect.ExplainPath, query, &e)
		if err != nil {
			return usageError{err}
		}
		return writeProblems(stdout, *output, raw, e.table, len(e.Causes) > 0)
	})
	return cmd
}

// objectQuery returns the query for an object.
func objectQuery(text string) (url.Values, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 2 { // cluster-scoped
		parts = []string{parts[0], "", parts[1]}
	}
	if len(parts) != 3 || parts[0] == "" || parts[2] == "" {
		return nil, fmt.Errorf("%q does not name an object: write it as deployments/shop/web, or nodes/node-1 without a namespace", text)
	}
	return url.Values{"resource": {parts[0]}, "namespace": {parts[1]}, "name": {parts[2]}}, nil
}

// explanation is what the table shows of the response of inspect.ExplainPath.
type explanation struct {
	Resource, Namespace, Name string
	Time                      time.Time
	Causes                    []struct{ Cause, Detail string }
	Caches                    []explainedCache
	Queues                    []explainedQueue
	Leader                    *bool
}

type explainedCache struct {
	WatchNamespace         string
	Synced, WatchConnected bool
	SyncLagSeconds         float64
	LastEvent              *time.Time
	Cached                 bool
	ResourceVersion        string
	Generation             int64
	ObservedGeneration     *int64
	DeletionTimestamp      *time.Time
	Finalizers             []string
	Received               *time.Time
	LastWrite              *struct {
		ResourceVersion string
		Time            time.Time
		EchoSeconds     *float64
		Stored          bool
	}
	Handlers []struct {
		Handler       string
		Handled       *bool
		Pending       uint64
		BehindSeconds float64
	}
}

type explainedQueue struct {
	Controller string
	ReadySince *time.Time
	Delayed    bool
	Retried    *struct {
		Retries                    int
		AgeSeconds, BackoffSeconds float64
	}
	LastReconcile *struct {
		Result, Error string
		Time          time.Time
	}
}

// table writes the explanation as text: a line of facts per cache, handler and controller, below the causes.
func (e explanation) table(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
	row := func(subject, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", untrusted.Printable(subject), untrusted.Printable(fmt.Sprintf(format, args...)))
	}
	for _, c := range e.Causes {
		row(c.Cause, "%s", c.Detail)
	}
	if len(e.Causes) == 0 {
		fmt.Fprintln(w, "The program knows no cause.")
	}
	fmt.Fprintln(w)
	if e.Leader != nil {
		row("leader", "%s", either(*e.Leader, "yes", "no"))
	}
	for _, c := range e.Caches {
		row("informer of "+cmp.Or(c.WatchNamespace, "*"), "%s", e.state(c))
		if c.Cached {
			row("cached object", "%s", e.object(c))
		}
		if l := c.LastWrite; l != nil {
			echo := "no echo received"
			switch {
			case l.EchoSeconds != nil:
				echo = fmt.Sprintf("echo after %s", duration(*l.EchoSeconds))
			case l.Stored:
				echo = "stored"
			}
			row("own last write", "version %s, %s, %s", l.ResourceVersion, e.ago(l.Time), echo)
		}
		for _, h := range c.Handlers {
			facts := []string{fmt.Sprintf("pending events %d", h.Pending)}
			if h.Handled != nil {
				facts = append([]string{either(*h.Handled, "last event handled", "last event not handled")}, facts...)
			}
			if h.BehindSeconds > 0 {
				facts = append(facts, "the oldest for "+duration(h.BehindSeconds))
			}
			row("handler "+h.Handler, "%s", strings.Join(facts, ", "))
		}
	}
	for _, q := range e.Queues {
		row("controller "+q.Controller, "%s", e.queue(q))
	}
	return w.Flush()
}

func (e explanation) state(c explainedCache) string {
	facts := []string{either(c.Synced, "synced", "not synced"), either(c.WatchConnected, "watch connected", "watch down"), "sync lag " + duration(c.SyncLagSeconds)}
	if c.LastEvent != nil {
		facts = append(facts, "last event "+e.ago(*c.LastEvent))
	}
	return strings.Join(facts, ", ")
}

func (e explanation) object(c explainedCache) string {
	facts := []string{"version " + c.ResourceVersion}
	if c.Received != nil {
		facts = append(facts, "received "+e.ago(*c.Received))
	}
	if c.ObservedGeneration != nil {
		facts = append(facts, fmt.Sprintf("generation %d, observed %d", c.Generation, *c.ObservedGeneration))
	}
	if c.DeletionTimestamp != nil {
		facts = append(facts, "terminating since "+e.ago(*c.DeletionTimestamp))
	}
	if len(c.Finalizers) > 0 {
		facts = append(facts, "finalizers "+strings.Join(c.Finalizers, ", "))
	}
	return strings.Join(facts, ", ")
}

func (e explanation) queue(q explainedQueue) string {
	var facts []string
	if l := q.LastReconcile; l != nil {
		result := l.Result
		if l.Error != "" {
			result += " (" + l.Error + ")"
		}
		facts = append(facts, fmt.Sprintf("last reconcile %s, %s", result, e.ago(l.Time)))
	}
	if q.ReadySince != nil {
		facts = append(facts, "queued since "+e.ago(*q.ReadySince))
	}
	if q.Delayed {
		facts = append(facts, "delayed")
	}
	if r := q.Retried; r != nil {
		facts = append(facts, fmt.Sprintf("retries %d in %s", r.Retries, duration(r.AgeSeconds)))
		if r.BackoffSeconds > 0 {
			facts = append(facts, "next attempt in "+duration(r.BackoffSeconds))
		}
	}
	return strings.Join(facts, ", ")
}

// ago returns how long ago a moment was, by the program's clock.
func (e explanation) ago(at time.Time) string { return duration(e.Time.Sub(at).Seconds()) + " ago" }

func duration(seconds float64) string {
	d := time.Duration(max(0, seconds) * float64(time.Second))
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return check.Duration(d)
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
