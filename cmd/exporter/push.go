package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/push"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// pushFlags are the flags of push.
type pushFlags struct {
	logging  *promslog.Config
	cluster  *clusterFlags
	address  string
	url      *url.URL // of address
	password string   // path of the password file
	job      string
	grouping map[string]string
	timeout  time.Duration
}

const (
	// pushTimeout is the timeout of the request to the Pushgateway.
	pushTimeout = 30 * time.Second
	// pushConfirmation is the longest wait for audits that confirm differences. They start within half a minute.
	pushConfirmation = time.Minute
)

// pushCommand returns the command push.
func pushCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("push --pushgateway.url=URL", "Watch the cluster until everything is synced and audited once, push to a Pushgateway, and exit. For clusters that Prometheus cannot scrape.")
	f := &pushFlags{cluster: registerCluster(cmd.Flags())}
	cmd.Flags().StringVar(&f.address, "pushgateway.url", "", "`URL` of the Pushgateway, without /metrics. Its user and password are sent as basic authentication.")
	cmd.Flags().StringVar(&f.password, "pushgateway.password-file", "", "`FILE` with the password of the user in the URL. Other users of the host can see a password in the URL.")
	cmd.Flags().StringVar(&f.job, "pushgateway.job", buildinfo.Name, "`VALUE` of the label job.")
	cmd.Flags().StringToStringVar(&f.grouping, "pushgateway.grouping", nil, "Additional grouping `LABEL=VALUE`, such as cluster=eu. Repeatable.")
	cmd.Flags().DurationVar(&f.timeout, "push.timeout", 5*time.Minute, "How long to wait for the informers. On timeout, the available metrics are pushed and the command fails.")
	f.logging = registerLogging(cmd.Flags(), stderr)
	require(cmd, "pushgateway.url")
	execute(cmd, func(ctx context.Context, _ []string, _ io.Writer) error { return f.push(ctx) })
	return cmd
}

func (f *pushFlags) validate() error {
	var err error
	f.url, err = url.Parse(f.address)
	switch {
	// err contains the address, which may have a password. Redacted removes a password only from a valid URL.
	case err != nil || f.url.Scheme != "http" && f.url.Scheme != "https" || f.url.Host == "":
		return usageError{errors.New("--pushgateway.url: not a URL like http://pushgateway:9091")}
	case f.password != "" && f.url.User == nil:
		return usageError{errors.New("--pushgateway.password-file: needs a user in --pushgateway.url, as in http://user@pushgateway:9091")}
	case f.job == "":
		return usageError{errors.New("--pushgateway.job: must not be empty")}
	case f.timeout <= 0:
		return usageError{fmt.Errorf("--push.timeout: %v must be positive", f.timeout)}
	}
	for label := range f.grouping {
		if !model.LegacyValidation.IsValidLabelName(label) || label == "job" {
			return usageError{fmt.Errorf("--pushgateway.grouping: %q cannot be a grouping label", label)}
		}
	}
	return nil
}

// push runs the exporter until every resource is synced and audited, or rejected by the API server, and differences are confirmed.
// Then it pushes its metrics.
func (f *pushFlags) push(ctx context.Context) error {
	setGCPercent()
	log := newLogger(f.logging)
	if err := f.validate(); err != nil {
		return err
	}
	file, err := config.Open(f.cluster.configFile)
	if err != nil {
		return err
	}
	limitMemory(ctx, log)
	rest, err := client.RESTConfig(f.cluster.kubeconfig)
	if err != nil {
		return err
	}
	exp, err := exporter.New(exporter.Options{File: file, REST: rest, Logger: log})
	if err != nil {
		return err
	}
	exp.Start(ctx)
	waiting, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	incomplete := exp.Confirmed(waiting, pushConfirmation)
	if incomplete != nil {
		log.Error("some resources are not synced and audited", "err", incomplete)
	}
	// Push before the informers stop, because their series end with them, and also after an interrupt.
	pushing, cancelPush := context.WithTimeout(context.WithoutCancel(ctx), pushTimeout)
	defer cancelPush()
	return errors.Join(incomplete, f.send(pushing, exp, log), shutdown(log, step{"stop informers", 10 * time.Second, exp.Stop}))
}

// send replaces the group in the Pushgateway.
func (f *pushFlags) send(ctx context.Context, exp *exporter.Exporter, log *slog.Logger) error {
	address := *f.url
	address.User = nil
	client := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	defer client.CloseIdleConnections()
	pusher := push.New(address.String(), f.job).Gatherer(exp.Gatherer()).Client(shortResponses{client})
	if user := f.url.User; user != nil {
		password, err := f.passwordOf(user)
		if err != nil {
			return err
		}
		pusher.BasicAuth(user.Username(), password)
	}
	for label, value := range f.grouping {
		pusher.Grouping(label, value)
	}
	if err := pusher.PushContext(ctx); err != nil {
		return fmt.Errorf("--pushgateway.url: %w", err)
	}
	log.Info("metrics pushed", "url", address.String(), "job", f.job, "grouping", f.grouping)
	return nil
}

// shortResponses cuts the bodies of responses, which a Pusher reads whole for its error.
type shortResponses struct{ *http.Client }

// Do implements push.HTTPDoer.
func (c shortResponses) Do(request *http.Request) (*http.Response, error) {
	response, err := c.Client.Do(request) //nolint:gosec // the address is a flag
	if err != nil {
		return nil, err
	}
	response.Body = bounded.Body(response.Body, untrusted.MaxText)
	return response, nil
}

// passwordOf returns the password of the user in the URL.
func (f *pushFlags) passwordOf(user *url.Userinfo) (string, error) {
	if f.password == "" {
		password, _ := user.Password()
		return password, nil
	}
	raw, err := os.ReadFile(f.password)
	if err != nil {
		return "", fmt.Errorf("--pushgateway.password-file: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}
