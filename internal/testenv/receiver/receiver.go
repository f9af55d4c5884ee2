// Package receiver is a webhook for Alertmanager that remembers what it was told, so that a test can wait for an alert
// and a person can read it.
package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Alert is one alert of a notification. Alertmanager sends the same alert again when its group changes and after the
// repeat interval, so it may appear several times.
type Alert struct {
	// Receiver is the name of the receiver in Alertmanager's configuration.
	Receiver string
	// Name is the label alertname, Status firing or resolved.
	Name        string
	Status      string
	Labels      map[string]string
	Annotations map[string]string
	StartsAt    time.Time
	// EndsAt is zero while the alert fires.
	EndsAt time.Time
	// Arrived is when the notification came here.
	Arrived time.Time
}

// Options configure Start.
type Options struct {
	// Address to listen on; empty is a free loopback port.
	Address string
	// Log gets a line for every alert. Nil: silence.
	Log *slog.Logger
}

// Receiver is the webhook. Its methods may be called from several goroutines.
type Receiver struct {
	address string
	log     *slog.Logger
	server  *http.Server
	served  chan struct{}

	mu     sync.Mutex
	alerts []Alert
	more   chan struct{} // closed and replaced when alerts arrive
}

// Start listens and returns at once.
func Start(o Options) (*Receiver, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("receiver: %w", err)
	}
	r := &Receiver{address: l.Addr().String(), log: o.Log, served: make(chan struct{}), more: make(chan struct{})}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.served)
		if err := r.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("the webhook receiver has ended", "err", err)
		}
	}()
	return r, nil
}

// URL is what Alertmanager is to send to. The path makes no difference to the receiver; it tells people apart what was
// meant for a pager from what was not.
func (r *Receiver) URL(path string) string {
	return "http://" + r.address + "/" + strings.TrimPrefix(path, "/")
}

// Close ends the server. Alerts and Wait still answer from what has arrived.
func (r *Receiver) Close() error {
	err := r.server.Close()
	<-r.served
	return err
}

// Alerts returns all that have arrived, in that order.
func (r *Receiver) Alerts() []Alert {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.alerts)
}

// Wait returns the first alert that match accepts, among those that have arrived and those that will. When ctx ends
// first, the error lists what did arrive.
func (r *Receiver) Wait(ctx context.Context, match func(Alert) bool) (Alert, error) {
	seen := 0
	for {
		r.mu.Lock()
		alerts, more := r.alerts, r.more // appending leaves what is there alone
		r.mu.Unlock()
		for _, a := range alerts[seen:] {
			if match(a) {
				return a, nil
			}
		}
		seen = len(alerts)
		select {
		case <-more:
		case <-ctx.Done():
			return Alert{}, fmt.Errorf("no such alert: %w (arrived: %s)", context.Cause(ctx), summary(alerts))
		}
	}
}

func summary(alerts []Alert) string {
	if len(alerts) == 0 {
		return "none"
	}
	var names []string
	for _, a := range alerts {
		if s := a.Name + " " + a.Status; !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return strings.Join(names, ", ")
}

// maxBody bounds a notification: Alertmanager's largest groups stay far below.
const maxBody = 10 << 20

// ServeHTTP takes a notification.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		http.Error(w, "POST Alertmanager's notifications here", http.StatusMethodNotAllowed)
		return
	}
	var n struct {
		Receiver string `json:"receiver"`
		Alerts   []struct {
			Status      string            `json:"status"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
			StartsAt    time.Time         `json:"startsAt"`
			EndsAt      time.Time         `json:"endsAt"`
		} `json:"alerts"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody)).Decode(&n); err != nil {
		http.Error(w, "not a notification of Alertmanager: "+err.Error(), http.StatusBadRequest)
		return
	}
	now := time.Now()
	arrived := make([]Alert, len(n.Alerts))
	for i, a := range n.Alerts {
		arrived[i] = Alert{
			Receiver: n.Receiver, Name: a.Labels["alertname"], Status: a.Status, Labels: a.Labels,
			Annotations: a.Annotations, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Arrived: now,
		}
	}
	r.mu.Lock()
	r.alerts = append(r.alerts, arrived...)
	close(r.more)
	r.more = make(chan struct{})
	r.mu.Unlock()
	for _, a := range arrived {
		r.log.Info("alert "+a.Status, "alertname", a.Name, "receiver", a.Receiver, "severity", a.Labels["severity"],
			"summary", a.Annotations["summary"], "since", a.StartsAt.Format(time.TimeOnly))
	}
}
