package exporter

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// informersPath answers with the table of the landing page as JSON. docs/api.md describes it: fields may be added, and none
// is renamed or removed without a new version in the path.
const informersPath = "/api/v1/informers"

type informersAnswer struct {
	Name          string           `json:"name"`
	Version       string           `json:"version"`
	APIServer     string           `json:"apiServer"`
	Time          time.Time        `json:"time"`
	UptimeSeconds float64          `json:"uptimeSeconds"`
	Ready         bool             `json:"ready"`
	Leader        *bool            `json:"leader"`
	Informers     []informerAnswer `json:"informers"`
}

type informerAnswer struct {
	InformerType        string       `json:"informerType"`
	Group               string       `json:"group"`
	Version             string       `json:"version"`
	Resource            string       `json:"resource"`
	Namespaced          bool         `json:"namespaced"`
	Namespace           string       `json:"namespace"`
	State               string       `json:"state"`
	Synced              bool         `json:"synced"`
	WatchConnected      bool         `json:"watchConnected"`
	WatchOpened         *time.Time   `json:"watchOpened"`
	WatchAgeSeconds     *float64     `json:"watchAgeSeconds"`
	Objects             int          `json:"objects"`
	PendingEvents       uint64       `json:"pendingEvents"`
	SyncLagSeconds      float64      `json:"syncLagSeconds"`
	LastSyncSeconds     float64      `json:"lastSyncSeconds"`
	LastEvent           *time.Time   `json:"lastEvent"`
	LastEventAgeSeconds *float64     `json:"lastEventAgeSeconds"`
	Relists             uint64       `json:"relists"`
	LastAudit           *auditAnswer `json:"lastAudit"`
}

type auditAnswer struct {
	Result      string     `json:"result"`
	Time        *time.Time `json:"time"`
	AgeSeconds  *float64   `json:"ageSeconds"`
	Differences int        `json:"differences"`
}

// serveInformers answers requests for informersPath.
func (e *Exporter) serveInformers(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	answer := informersAnswer{
		Name: e.shard.Name(), Version: Version(), APIServer: e.server,
		Time: now.UTC().Truncate(time.Millisecond), UptimeSeconds: now.Sub(e.started).Seconds(),
		Informers: []informerAnswer{}, // and never null
	}
	answer.Ready, _ = e.readiness()
	answer.Leader = e.candidate.leading()
	states := e.states()
	slices.SortFunc(states, byName)
	for _, s := range states {
		answer.Informers = append(answer.Informers, s.answer(now))
	}
	body, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		e.log.Error("The state of the informers cannot be rendered", "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // who has gone needs no answer
}

func (s state) answer(now time.Time) informerAnswer {
	a := informerAnswer{
		InformerType: s.ID.Type(), Group: s.kind.Group, Version: s.kind.Version, Resource: s.kind.Resource,
		Namespaced: s.kind.Namespaced, Namespace: s.ID.Scope(),
		State: s.name, Synced: s.Synced, WatchConnected: s.Connected,
		Objects: s.Objects, PendingEvents: s.pending, Relists: s.Relists,
		SyncLagSeconds: s.SyncLag.Seconds(), LastSyncSeconds: s.LastSync.Seconds(),
	}
	a.WatchOpened, a.WatchAgeSeconds = moment(s.WatchOpened, now)
	a.LastEvent, a.LastEventAgeSeconds = moment(s.LastEvent, now)
	if s.LastAudit.Result != "" {
		a.LastAudit = &auditAnswer{Result: s.LastAudit.Result, Differences: s.LastAudit.Differences}
		a.LastAudit.Time, a.LastAudit.AgeSeconds = moment(s.LastAudit.At, now)
	}
	return a
}

// moment returns when something was, and how many seconds ago: nil if it never was.
func moment(at, now time.Time) (*time.Time, *float64) {
	if at.IsZero() {
		return nil, nil
	}
	age := max(0, now.Sub(at).Seconds())
	at = at.UTC().Truncate(time.Millisecond)
	return &at, &age
}
