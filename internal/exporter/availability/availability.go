// Package availability tracks whether a resource can be listed and watched, from the results of its requests.
package availability

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Responses of the API server to requests for a resource. Only these determine informer_exporter_kind_up: an unreachable
// server does not affect it.
const (
	Pending      = "pending" // no response yet
	Up           = "up"
	Forbidden    = "forbidden"
	Unauthorized = "unauthorized"
	Missing      = "missing"
	Unsupported  = "unsupported"
)

// Tracker tracks whether one resource can be listed and watched in one scope. It sees the result of every request, including
// successes, which SetWatchErrorHandler does not report.
//
// Only an opened watch proves that the resource is available. A successful list does not: the watch that follows it may be
// rejected.
type Tracker struct {
	log          *slog.Logger  // with informer_type and namespace
	Refusal      chan struct{} // closed by the first refusal
	Outages      *Outages      // unless nil, logs outages of several resources together
	OnMissing    func()        // unless nil, called when the resource becomes missing
	OnUnselected func()        // called when the API server sends objects that were not selected

	mu          sync.Mutex
	answer      string
	refused     bool  // has been refused at least once
	unreachable bool  // the last request got no response about the resource
	lastError   error // of the last failed request
}

// NewTracker returns a tracker that logs changes to log.
func NewTracker(log *slog.Logger) *Tracker {
	return &Tracker{log: log, Refusal: make(chan struct{}), OnUnselected: func() {}, answer: Pending}
}

// Up reports whether the resource can be listed and watched, according to the last response.
func (a *Tracker) Up() bool { return a.Status().Answer == Up }

// Status is the availability of a resource.
type Status struct {
	Answer      string
	WasRefused  bool
	Unreachable bool
}

// Refused reports whether the last response was a rejection.
func (s Status) Refused() bool { return s.Answer != Up && s.Answer != Pending }

// Status returns the current availability.
func (a *Tracker) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Status{a.answer, a.refused, a.unreachable}
}

// reported reports whether err is or wraps the last request error, which Failed has logged.
func (a *Tracker) reported(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastError != nil && errors.Is(err, a.lastError)
}

// Watched records whether a watch was opened.
func (a *Tracker) Watched(ctx context.Context, options metav1.ListOptions, err error) {
	switch {
	case err == nil:
		a.opened()
	case options.SendInitialEvents != nil && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)):
		// The server does not support streaming lists. client-go falls back to a list, and only the result of that list
		// matters.
		a.log.Debug("streaming lists are not supported", "err", err)
	default:
		a.Failed(ctx, err)
	}
}

func (a *Tracker) opened() {
	a.mu.Lock()
	before, troubled := a.answer, a.unreachable
	a.answer, a.unreachable, a.lastError = Up, false, nil
	a.mu.Unlock()

	switch {
	case before != Up && before != Pending:
		a.log.Info("resource is available", "before", before)
	case troubled:
		a.Outages.recovered(a.log)
	}
}

// Failed records a failed request.
func (a *Tracker) Failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the informer was stopped
	}
	answer := Classify(err)
	// Expected: the server has compacted the last known resource version, and a relist follows.
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)

	a.mu.Lock()
	before, troubled := a.answer, a.unreachable
	a.lastError = err
	switch {
	case answer != "":
		a.answer, a.unreachable = answer, false
		if !a.refused {
			a.refused = true
			close(a.Refusal)
		}
	case !expired:
		a.unreachable = true
	}
	a.mu.Unlock()

	if answer == Missing && before != answer && a.OnMissing != nil {
		a.OnMissing()
	}
	switch {
	case answer == "" && !troubled && !expired:
		a.Outages.failed(a.log, err)
	case answer != "" && answer != before:
		a.log.Warn("cannot watch the resource", "reason", answer, "fix", fixes[answer], "err", err)
	default:
		a.log.Debug("request failed again", "err", err)
	}
}

// WatchError keeps client-go from logging every retry of a request if the tracker has logged its failure. Errors that do not
// come from a request, such as a list that cannot be decoded, are logged as usual.
func (a *Tracker) WatchError(ctx context.Context, r *cache.Reflector, err error) {
	if !a.reported(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}

// Fix returns the remedy for a rejection.
func Fix(answer string) string { return fixes[answer] }

// fixes are the remedies in log messages and in the output of informer-exporter check.
var fixes = map[string]string{
	Forbidden:    "grant list and watch on it, or leave it out of resources in the configuration file",
	Unauthorized: "renew the credentials",
	Missing:      "install its CustomResourceDefinition, or correct its name, version or scope in the configuration file",
	Unsupported:  "leave it out of resources in the configuration file",
}

// Classify returns the constant for the error of a list or watch request, or an empty string if it says nothing about the resource.
func Classify(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return Forbidden
	case apierrors.IsUnauthorized(err):
		return Unauthorized
	case apierrors.IsNotFound(err):
		return Missing
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return Unsupported
	}
	return ""
}
