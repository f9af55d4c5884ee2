package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// InformersPath is the path of the landing page's table as JSON. docs/exporter.md describes it. Fields may be added; renaming or
// removing one requires a new version in the path.
const InformersPath = "/api/v1/informers"

// InformersResponse is the response of InformersPath.
type InformersResponse struct {
	Name          string             `json:"name"`
	Version       string             `json:"version"`
	APIServer     string             `json:"apiServer"`
	Time          time.Time          `json:"time"`
	UptimeSeconds float64            `json:"uptimeSeconds"`
	Ready         bool               `json:"ready"`
	Leader        *bool              `json:"leader"`
	Informers     []InformerResponse `json:"informers"`
}

// InformerResponse is one informer in an InformersResponse.
type InformerResponse struct {
	InformerType        string         `json:"informerType"`
	Group               string         `json:"group"`
	Version             string         `json:"version"`
	Resource            string         `json:"resource"`
	Namespaced          bool           `json:"namespaced"`
	Namespace           string         `json:"namespace"`
	State               string         `json:"state"`
	Synced              bool           `json:"synced"`
	WatchConnected      bool           `json:"watchConnected"`
	WatchOpened         *time.Time     `json:"watchOpened"`
	WatchAgeSeconds     *float64       `json:"watchAgeSeconds"`
	Objects             int            `json:"objects"`
	PendingEvents       uint64         `json:"pendingEvents"`
	SyncLagSeconds      float64        `json:"syncLagSeconds"`
	Degraded            bool           `json:"degraded"`
	Failures            int            `json:"failures"`
	LastSyncSeconds     float64        `json:"lastSyncSeconds"`
	LastEvent           *time.Time     `json:"lastEvent"`
	LastEventAgeSeconds *float64       `json:"lastEventAgeSeconds"`
	Relists             uint64         `json:"relists"`
	LastAudit           *AuditResponse `json:"lastAudit"`
}

// AuditResponse is the last audit of an informer.
type AuditResponse struct {
	Result      string     `json:"result"`
	Time        *time.Time `json:"time"`
	AgeSeconds  *float64   `json:"ageSeconds"`
	Differences int        `json:"differences"`
}

// serveInformers serves InformersPath.
func (s *Server) serveInformers(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	answer := InformersResponse{
		Name: s.Status.Name, Version: buildinfo.Version(), APIServer: s.Status.Server,
		Time: now.UTC().Truncate(time.Millisecond), UptimeSeconds: now.Sub(s.Status.Started).Seconds(),
		Informers: []InformerResponse{}, // never null
	}
	answer.Ready, _ = s.Status.Readiness()
	answer.Leader = s.Status.Leading()
	states := s.Status.Informers()
	slices.SortFunc(states, status.ByName)
	for _, st := range states {
		answer.Informers = append(answer.Informers, newInformerResponse(st, now))
	}
	body, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		s.Logger.Error("cannot encode the informers", "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // fails only if the client is gone
}

func newInformerResponse(s status.Informer, now time.Time) InformerResponse {
	a := InformerResponse{
		InformerType: s.ID.Type(), Group: s.Kind.Group, Version: s.Kind.Version, Resource: s.Kind.Resource,
		Namespaced: s.Kind.Namespaced, Namespace: s.ID.WatchNamespace(),
		State: s.State, Synced: s.Synced, WatchConnected: s.Connected,
		Objects: s.Objects, PendingEvents: s.Pending, Relists: s.Relists,
		SyncLagSeconds: s.SyncLag.Seconds(), Degraded: s.Degraded, Failures: s.Failures, LastSyncSeconds: s.LastSync.Seconds(),
	}
	a.WatchOpened, a.WatchAgeSeconds = moment(s.WatchOpened, now)
	a.LastEvent, a.LastEventAgeSeconds = moment(s.LastEvent, now)
	if s.LastAudit.Result != "" {
		a.LastAudit = &AuditResponse{Result: s.LastAudit.Result, Differences: s.LastAudit.Differences}
		a.LastAudit.Time, a.LastAudit.AgeSeconds = moment(s.LastAudit.At, now)
	}
	return a
}

// moment returns a time and its age in seconds, or nil for the zero time.
func moment(at, now time.Time) (*time.Time, *float64) {
	if at.IsZero() {
		return nil, nil
	}
	age := max(0, now.Sub(at).Seconds())
	at = at.UTC().Truncate(time.Millisecond)
	return &at, &age
}
