package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/discovery"
)

// Names under which the program is a plugin of kubectl, and completes the arguments of the plugin.
const (
	pluginName       = "kubectl-informers"
	pluginCompletion = "kubectl_complete-informers"
)

// arguments returns the arguments of the program. As a kubectl plugin, the program has only the commands check, which is the default,
// and explain.
func arguments(args []string) []string {
	command, rest := []string{"check"}, args[1:]
	if len(rest) > 0 && rest[0] == "explain" {
		command = nil
	}
	switch strings.TrimSuffix(filepath.Base(args[0]), ".exe") {
	case pluginName:
		return append(command, rest...)
	case pluginCompletion:
		return append(append([]string{cobra.ShellCompRequestCmd}, command...), rest...)
	}
	return rest
}

// errProblems means that the check has found and printed problems.
var errProblems = errors.New("problems found")

const (
	// checkAudits is the interval of audits. It also limits how long a first audit waits for all resources to sync, and the delay after
	// that.
	checkAudits = 5 * time.Second
	// checkConfirmation is the longest wait for audits that confirm differences.
	checkConfirmation = 4 * checkAudits
	// checkRequest is the timeout of a request for one object.
	checkRequest = 10 * time.Second
)

// checkFlags are the flags of check.
type checkFlags struct {
	configFile, kubeconfig, context string
	output                          *string
	namespaces                      []string
	olderThan, timeout              time.Duration
	aged                            bool
}

// checkCommand returns the command check.
func checkCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("check", "Check a cluster once and print the problems: resources that cannot be watched, stale or inconsistent caches, locks with no leader, terminating objects and observed generation lag. Exit code 0: no problems, 1: problems, 2: the cluster cannot be checked. Installed in $PATH as kubectl-informers, it runs as kubectl informers.")
	f := &checkFlags{}
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "Kubeconfig `FILE`. Defaults to the one that kubectl uses.")
	cmd.Flags().StringVar(&f.context, "context", "", "`NAME` of the context in the kubeconfig. Defaults to the current context.")
	cmd.Flags().StringVar(&f.configFile, "config.file", "", "Configuration `FILE` that selects the resources. Defaults to the resources of serve.")
	cmd.Flags().StringSliceVarP(&f.namespaces, "namespace", "n", nil, "Check only these `NAMESPACES`, separated by commas. Defaults to the namespaces in the configuration file, or to all.")
	cmd.Flags().DurationVar(&f.olderThan, "older-than", 0, fmt.Sprintf("Age from which terminating objects, expired Leases and observed generation lag are problems. Defaults to the objectives of the alerts, %s (Leases: %s).",
		model.Duration(catalog.Objectives.ObjectHeld.Threshold*float64(time.Second)), model.Duration(catalog.Objectives.LeaseUnheld.For)))
	cmd.Flags().Lookup("older-than").DefValue = "0s" // not shown
	cmd.Flags().DurationVar(&f.timeout, "timeout", 2*time.Minute, "Timeout of the initial sync. Resources not synced by then are problems.")
	f.output = registerOutput(cmd.Flags())
	execute(cmd, func(ctx context.Context, _ []string, stdout io.Writer) error {
		f.aged = cmd.Flags().Changed("older-than")
		report, err := f.look(ctx, stderr)
		if err != nil {
			return usageError{err}
		}
		return writeProblems(stdout, *f.output, report, report.Print, len(report.Problems) > 0)
	})
	return cmd
}

// look syncs and audits all resources once.
func (f *checkFlags) look(ctx context.Context, stderr io.Writer) (report check.Report, err error) {
	if f.timeout <= 0 || f.olderThan < 0 {
		return report, errors.New("--timeout must be positive, and --older-than not negative")
	}
	file, err := config.Open(f.configFile)
	if err != nil {
		return report, err
	}
	configured := file.Config()
	if len(f.namespaces) > 0 {
		configured.Namespaces = f.namespaces
	}
	if _, audit := configured.Checks.Intervals(); audit > 0 {
		soon := configfile.Duration(checkAudits)
		configured.Checks.Audit = &soon
	}
	if err := configured.Validate(); err != nil {
		return report, err
	}
	limitMemory(ctx, slog.New(slog.DiscardHandler))
	connecting, err := client.UserConfig(f.kubeconfig, f.context)
	if err != nil {
		return report, err
	}
	connection, err := client.Connect(connecting, buildinfo.Name+"/"+buildinfo.Version(), func(c *rest.Config) *rest.Config { return c }, nil)
	if err != nil {
		return report, err
	}
	defer connection.Disconnect()
	silent := silence() // rejections are in the report
	signals := klog.NewContext(ctx, logr.FromSlogHandler(silent.Handler()))
	ctx, cancel := context.WithTimeout(signals, f.timeout)
	defer cancel()
	cluster, err := discovery.Look(ctx, connection.Discover)
	if err != nil {
		return report, err
	}
	exp, err := exporter.New(exporter.Options{Config: configured, REST: connecting, Logger: silent})
	if err != nil {
		return report, err
	}
	exp.Start(ctx)
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if unstopped := exp.Stop(stopping); unstopped != nil { // the report is complete
			fmt.Fprintln(stderr, unstopped)
		}
	}()
	end := showProgress(stderr, connecting.Host, exp.Progress)
	incomplete := exp.Confirmed(ctx, checkConfirmation) // the report lists the informers that are missing
	end()
	if signals.Err() != nil {
		return report, context.Cause(signals)
	}
	if _, all := exp.Progress(); all == 0 {
		return report, errors.Join(errors.New("no resource is selected"), incomplete)
	}
	options := check.Options{Changed: lastChanges(signals, checkRequest, connection.Metadata)}
	if f.aged {
		options.OlderThan = &f.olderThan
	}
	report = exp.Check(options)
	if signals.Err() != nil {
		return report, context.Cause(signals)
	}
	report.Server = connecting.Host
	for _, group := range cluster.Failed() {
		report.Problems = append(report.Problems, check.Problem{
			Type: check.DiscoveryFailed, Resource: group, Detail: "the API server does not list its resources; if it is aggregated, see its APIService",
		})
	}
	selected, overLimit := cluster.Select(configured)
	if overLimit > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("%d resources beyond the limit of an exporter were not checked", overLimit))
	}
	for _, kind := range selected {
		if kind.Optional && !report.Watched[kind.Type()] {
			report.Notes = append(report.Notes, kind.Type()+" was not checked: it is forbidden, and the configuration does not name it")
		}
	}
	report.Sort()
	return report, nil
}

// lastChanges returns a function that requests an object and returns when it last changed. After a request without a response, all
// later ones fail immediately.
func lastChanges(ctx context.Context, timeout time.Duration, objects metadata.Interface) func(check.Object) (time.Time, error) {
	var unanswered error
	return func(o check.Object) (time.Time, error) {
		if unanswered != nil {
			return time.Time{}, unanswered
		}
		request, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		object, err := objects.Resource(o.GVR()).Namespace(o.Namespace).Get(request, o.Name, metav1.GetOptions{})
		if err != nil {
			if request.Err() != nil {
				unanswered = err
			}
			return time.Time{}, err
		}
		return check.LastChange(object), nil
	}
}

// showProgress writes the progress to a terminal, or one line elsewhere, until the returned function is called.
func showProgress(stderr io.Writer, server string, progress func() (complete, all int)) (end func()) {
	file, ok := stderr.(*os.File)
	if ok {
		info, err := file.Stat()
		ok = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if !ok {
		fmt.Fprintf(stderr, "checking %s\n", server)
		return func() {}
	}
	show := func() {
		complete, all := progress()
		fmt.Fprintf(stderr, "\r\033[Kchecking %s: %d of %d resources", server, complete, all)
	}
	show()
	stop := repeat(200*time.Millisecond, show)
	return func() {
		stop()
		fmt.Fprint(stderr, "\r\033[K")
	}
}

// repeat calls a function at an interval, until the returned function is called, which waits for the last call.
func repeat(interval time.Duration, call func()) (end func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				call()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}
