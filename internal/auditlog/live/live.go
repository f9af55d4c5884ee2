// Package live feeds events into a tracker as API servers write or send them: from log files that it follows, and by an audit webhook.
package live

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/follow"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/metrics"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/webhook"
)

// Options configure an Observer.
type Options struct {
	// Files are the logs to follow. PositionDir is a directory for the positions in them; without it, a restart continues at their ends.
	Files       []string
	PositionDir string
	// TokenFile has the bearer token of senders to the webhook; see webhook.Options.
	TokenFile string
	// Clients and Series are limits.
	Clients, Series int
	// Logger reports errors after the start.
	Logger *slog.Logger
}

// Observer observes the clients of API servers.
type Observer struct {
	tracker   *clients.Tracker
	collector *metrics.Collector
	webhook   *webhook.Handler
	files     []*follow.File
	running   sync.WaitGroup
	mu        sync.Mutex
	failed    error
}

// New opens the logs. It returns an error if one of them, or the token, cannot be read, or a position cannot be written.
func New(o Options) (*Observer, error) {
	l := &Observer{tracker: clients.New(clients.Options{Clients: o.Clients})}
	l.collector = metrics.New(l.tracker, o.Series)
	var err error
	l.webhook, err = webhook.New(webhook.Options{
		TokenFile: o.TokenFile, Observe: l.tracker.Observe, Outcome: l.collector.Outcome,
		Malformed: func(n int) { l.collector.Malformed.Add(uint64(max(0, n))) },
	})
	if err != nil {
		return nil, err
	}
	for _, path := range o.Files {
		f := follow.Options{Path: path, Logger: o.Logger, Skipped: func() { l.collector.Dropped.Add(1) }}
		if o.PositionDir != "" {
			f.Position = positionOf(o.PositionDir, path)
		}
		file, err := follow.New(f)
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", path, err)
		}
		l.files = append(l.files, file)
	}
	return l, nil
}

// positionOf returns the file with the position in a log. Logs in different directories have the same name.
func positionOf(dir, path string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(path)))
	return filepath.Join(dir, fmt.Sprintf("%s-%x.position", filepath.Base(path), sum[:4]))
}

// Start rebuilds the state from what the logs have before the positions, and then follows them until ctx ends. Counters start at 0.
func (l *Observer) Start(ctx context.Context) error {
	for _, f := range l.files {
		if err := f.Rebuild(ctx, l.line); err != nil {
			return err
		}
	}
	l.collector.Rebase()
	for _, f := range l.files {
		l.running.Go(func() {
			if err := f.Run(ctx, l.line); err != nil {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.failed = errors.Join(l.failed, err)
			}
		})
	}
	return nil
}

// Wait waits until the positions have been saved, after the context of Start has ended.
func (l *Observer) Wait() error {
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Webhook returns the handler for the webhooks of API servers.
func (l *Observer) Webhook() http.Handler { return l.webhook }

// Collector returns the metrics.
func (l *Observer) Collector() prometheus.Collector { return l.collector }

// line observes a line of a log.
func (l *Observer) line(text []byte) {
	var e event.Event
	ok, malformed := event.DecodeLine(text, &e)
	if malformed {
		l.collector.Malformed.Add(1)
	}
	if ok {
		l.tracker.Observe(&e)
	}
}
