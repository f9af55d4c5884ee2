package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/churn"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// healthyTarget is a target of the chain, under the name that it would have in a cluster.
type healthyTarget struct {
	job, instance, url string
	// identity is set for replicas that may be scaled to zero.
	identity string
	secure   bool
}

func healthyTargets(c *chain.Chain) []healthyTarget {
	list := []healthyTarget{
		{job: "informer-exporter", instance: "exporter:9958", url: c.ExporterURL},
		{job: "load", instance: "load:8080", url: c.LoadURL},
		{job: "apiserver", instance: "apiserver:6443", url: "https://" + c.ControlPlane.APIServer.Address, secure: true},
		{job: "kube-controller-manager", instance: "kube-controller-manager:10257", url: "https://" + c.ControlPlane.ControllerManager.Address, secure: true},
	}
	for job, replicas := range map[string][]*chain.Replica{"widgets": c.Replicas, "owner-labels": c.OwnerLabels} {
		for _, r := range replicas {
			list = append(list, healthyTarget{job: job, instance: r.Identity + ":8080", url: r.URL, identity: r.Identity})
		}
	}
	return list
}

// recordHealthy records a chain under the operations of a healthy cluster. Every series of every target is kept: thin selects what
// the rules read.
func recordHealthy(ctx context.Context, log *slog.Logger, duration, interval time.Duration, out string) (err error) {
	c, err := chain.Start(ctx, chain.Options{
		Log: log, Interval: interval,
		Load: load.Options{WritesPerSecond: 5, ReadsPerSecond: 20},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	operations, err := churn.New(c, log)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	authority, err := os.ReadFile(c.ControlPlane.CAFile())
	if err != nil {
		return err
	}
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Timeout: interval * 2 / 3, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	token := c.ControlPlane.Config().BearerToken

	churning, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 1)
	start := time.Now()
	go func() { ended <- operations.Run(churning) }()
	recorder := recording.NewRecorder(recording.Healthy, start, interval, recording.Everything())
	targets := healthyTargets(c)
	log.Info("recording", "until", start.Add(duration).Format(time.TimeOnly))
	for at := time.Duration(0); at <= duration; at += interval {
		select {
		case err := <-ended:
			return fmt.Errorf("the operations have ended: %w", err)
		default:
		}
		if err := sleepUntil(ctx, start.Add(at)); err != nil {
			return err
		}
		texts, failures := make([][]byte, len(targets)), make([]error, len(targets))
		var all sync.WaitGroup
		for i, t := range targets {
			all.Go(func() { texts[i], failures[i] = t.scrape(ctx, client, token) })
		}
		all.Wait()
		for i, t := range targets {
			if operations.Gone(t.identity) {
				continue
			}
			l := labels.FromStrings("job", t.job, "instance", t.instance, "cluster", cluster)
			if err := recorder.Scraped(l, texts[i], failures[i] != nil); err != nil {
				return fmt.Errorf("%s: %w", t.instance, err)
			}
			if failures[i] != nil {
				log.Info("scrape failed", "instance", t.instance, "err", failures[i])
			}
		}
		recorder.Phase(recording.Before)
		recorder.Next()
	}
	end()
	failed := <-ended
	for _, a := range c.Receiver.Alerts() {
		log.Info("notified", "alertname", a.Name, "severity", a.Labels["severity"], "status", a.Status, "labels", a.Labels, "at", a.Arrived.Format(time.TimeOnly))
	}
	return errors.Join(failed, writeCompressed(out, recorder.Recording()))
}

// scrape returns the text of a target's metrics, without the histogram buckets of the API server, which are most of its
// series.
func (t healthyTarget) scrape(ctx context.Context, client *http.Client, token string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	if t.secure {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || t.job != "apiserver" {
		return text, err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "_bucket{") {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String()), nil
}

// mayBeRead matches series that rules may read in the future, except for the buckets of histograms, which are most series.
var mayBeRead = []*labels.Matcher{
	labels.MustNewMatcher(labels.MatchRegexp, model.MetricNameLabel, "(k8s|controller|workqueue|leader_election|rest_client|informer|apiserver_(terminated|watch|storage|init|flowcontrol_rejected|longrunning|request))_.+"),
	labels.MustNewMatcher(labels.MatchNotRegexp, model.MetricNameLabel, ".+_bucket"),
}

// thin writes the part of a full recording that the rules read or may read in the future.
func thin(full, out string, reads recording.Reads) error {
	content, err := os.ReadFile(full)
	if err != nil {
		return err
	}
	r, err := recording.UnmarshalCompressed(content)
	if err != nil {
		return err
	}
	r = recording.Thin(r, append(reads, mayBeRead))
	for i, s := range r.Series {
		if s.Labels.Get("host") != "" { // of requests: the address of the API server on the machine
			r.Series[i].Labels = labels.NewBuilder(s.Labels).Set("host", "apiserver:6443").Labels()
		}
	}
	return writeCompressed(out, r)
}

func writeCompressed(out string, r recording.Recording) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, r.MarshalCompressed(), 0o644)
}
