// Package receiver is a webhook for Alertmanager that stores notifications, so that tests can wait for an alert and users
// can read it.
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

// Alert is one alert of a notification. Alertmanager resends it when its group changes and after the repeat interval,
// so it may appear several times.
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
	// Arrived is the time of the notification, Notification its number from 1. All alerts of a group arrive in one notification.
	Arrived      time.Time
	Notification int
}

// Options configure Start.
type Options struct {
	// Address to listen on. Defaults to a free loopback port.
	Address string
	// Log gets a line per alert. A nil Log is silent.
	Log *slog.Logger
}

// Receiver is the webhook. It is safe for concurrent use.
type Receiver struct {
	address string
	log     *slog.Logger
	server  *http.Server
	served  chan struct{}

	mu     sync.Mutex
	alerts []Alert
	count  int           // of notifications
	more   chan struct{} // closed and replaced when alerts arrive
}

// Start listens and returns.
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
			r.log.Error("webhook receiver stopped", "err", err)
		}
	}()
	return r, nil
}

// URL returns the address for Alertmanager. The path has no effect; it shows readers whether a notification is a page.
func (r *Receiver) URL(path string) string {
	return "http://" + r.address + "/" + strings.TrimPrefix(path, "/")
}

// Close ends the server. Alerts and Wait still return what has arrived.
func (r *Receiver) Close() error {
	err := r.server.Close()
	<-r.served
	return err
}

// Alerts returns all alerts in the order of their arrival.
func (r *Receiver) Alerts() []Alert {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.alerts)
}

// Wait returns the first alert that match accepts, past or future. If ctx ends first, the error lists the alerts that
// arrived.
func (r *Receiver) Wait(ctx context.Context, match func(Alert) bool) (Alert, error) {
	seen := 0
	for {
		r.mu.Lock()
		alerts, more := r.alerts, r.more // appending does not modify existing elements
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
			return Alert{}, fmt.Errorf("no matching alert: %w (arrived: %s)", context.Cause(ctx), summary(alerts))
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

// maxBody is the size limit of a notification, well above Alertmanager's largest groups.
const maxBody = 10 << 20

// ServeHTTP receives a notification.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		http.Error(w, "this webhook accepts POST only", http.StatusMethodNotAllowed)
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
		http.Error(w, "not an Alertmanager notification: "+err.Error(), http.StatusBadRequest)
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	arrived := make([]Alert, len(n.Alerts))
	for i, a := range n.Alerts {
		arrived[i] = Alert{
			Receiver: n.Receiver, Name: a.Labels["alertname"], Status: a.Status, Labels: a.Labels,
			Annotations: a.Annotations, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Arrived: now, Notification: r.count,
		}
	}
	r.alerts = append(r.alerts, arrived...)
	close(r.more)
	r.more = make(chan struct{})
	for _, a := range arrived {
		r.log.Info("alert "+a.Status, "alertname", a.Name, "receiver", a.Receiver, "severity", a.Labels["severity"],
			"summary", a.Annotations["summary"], "since", a.StartsAt.Format(time.TimeOnly), "notification", a.Notification)
	}
}
