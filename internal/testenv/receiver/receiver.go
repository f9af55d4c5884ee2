// Package receiver is a webhook for Alertmanager that stores notifications, so that tests can wait for an alert and users
// can read it.
package receiver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Alert is one alert of a notification. Alertmanager resends it when its group changes and after the repeat interval,
// so it may appear several times.
type Alert struct {
	// Receiver is the name of the receiver in Alertmanager's configuration.
	Receiver string `json:"-"`
	// Name is the label alertname, Status firing or resolved.
	Name        string            `json:"-"`
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	// EndsAt is zero while the alert fires.
	EndsAt time.Time `json:"endsAt"`
	// Arrived is the time of the notification, Notification its number from 1. All alerts of a group arrive in one notification.
	Arrived      time.Time `json:"-"`
	Notification int       `json:"-"`
}

// Receiver is the webhook. It is safe for concurrent use.
type Receiver struct {
	log    *slog.Logger
	server *httptest.Server

	mu     sync.Mutex
	alerts []Alert
	count  int           // of notifications
	more   chan struct{} // closed and replaced when alerts arrive
}

// Start listens on a free loopback port and returns. log gets a line per alert; a nil log is silent.
func Start(log *slog.Logger) *Receiver {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Receiver{log: log, more: make(chan struct{})}
	r.server = httptest.NewServer(r)
	return r
}

// URL returns the address for Alertmanager. The path has no effect; it shows readers whether a notification is a page.
func (r *Receiver) URL(path string) string {
	return r.server.URL + "/" + strings.TrimPrefix(path, "/")
}

// Close ends the server. Alerts and Wait still return what has arrived.
func (r *Receiver) Close() { r.server.Close() }

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
		Receiver string  `json:"receiver"`
		Alerts   []Alert `json:"alerts"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody)).Decode(&n); err != nil {
		http.Error(w, "not an Alertmanager notification: "+err.Error(), http.StatusBadRequest)
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	for _, a := range n.Alerts {
		a.Receiver, a.Name, a.Arrived, a.Notification = n.Receiver, a.Labels["alertname"], now, r.count
		r.alerts = append(r.alerts, a)
		r.log.Info("alert "+a.Status, "alertname", a.Name, "receiver", a.Receiver, "severity", a.Labels["severity"],
			"summary", a.Annotations["summary"], "since", a.StartsAt.Format(time.TimeOnly), "notification", a.Notification)
	}
	close(r.more)
	r.more = make(chan struct{})
}
