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

// Answers of the API server about a kind. Only these, and never trouble on the way to it, decide on
// informer_exporter_kind_up: a server that cannot be reached says nothing about permissions.
const (
	Pending      = "pending" // no answer yet
	Up           = "up"
	Forbidden    = "forbidden"
	Unauthorized = "unauthorized"
	Missing      = "missing"
	Unsupported  = "unsupported"
)

// availability follows whether one kind in one scope can be listed and watched. It sees the result of each request, as
// SetWatchErrorHandler does not: that one is not told of successes.
//
// A watch that opens is the proof. A list that succeeds is not: it is followed by a watch, which may still be refused.
type Tracker struct {
	log          *slog.Logger  // with the kind and the scope
	Refusal      chan struct{} // closed by the first refusal
	OnMissing    func()        // unless nil, called when the kind turns out to be missing
	OnUnselected func()        // called when the API server sends objects that were not asked for

	mu          sync.Mutex
	answer      string
	refused     bool  // has ever been refused
	unreachable bool  // the last request got no answer about the kind
	lastError   error // of the last request that failed
}

func NewTracker(log *slog.Logger) *Tracker {
	return &Tracker{log: log, Refusal: make(chan struct{}), OnUnselected: func() {}, answer: Pending}
}

// up tells whether the API server's last answer was that the kind can be listed and watched.
func (a *Tracker) Up() bool { return a.Status().Answer == Up }

type Status struct {
	Answer      string
	WasRefused  bool
	Unreachable bool
}

func (s Status) Refused() bool { return s.Answer != Up && s.Answer != Pending }

func (a *Tracker) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Status{a.answer, a.refused, a.unreachable}
}

// reported tells whether err is, or wraps, the last error that a request returned, so that it has been dealt with.
func (a *Tracker) reported(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastError != nil && errors.Is(err, a.lastError)
}

// listed is told the result of each list request.
func (a *Tracker) Listed(ctx context.Context, err error) {
	if err != nil {
		a.Failed(ctx, err)
	}
}

// watched is told whether a watch could be opened.
func (a *Tracker) Watched(ctx context.Context, options metav1.ListOptions, err error) {
	switch {
	case err == nil:
		a.opened()
	case options.SendInitialEvents != nil && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)):
		// The server does not know streaming lists; client-go now lists, and only that list's result counts.
		a.log.Debug("The API server does not stream lists of the resource", "err", err)
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
		a.log.Info("The resource can be watched now", "before", before)
	case troubled:
		a.log.Info("The API server answers again for the resource")
	}
}

func (a *Tracker) Failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // Stop has cut the request off.
	}
	answer := Classify(err)
	// Routine: the server no longer has the events since the last known version, and a list follows.
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
		a.log.Warn("The resource cannot be read at the moment; trying on", "err", err)
	case answer != "" && answer != before:
		a.log.Warn("The resource cannot be watched; the others go on, and so does this one once it can", "reason", answer, "fix", fixes[answer], "err", err)
	default:
		a.log.Debug("Still failing", "err", err)
	}
}

// WatchError keeps client-go from logging an error on each retry that availability has logged once already. What did
// not come from a request, such as a list that could not be taken in, is logged as ever.
func (a *Tracker) WatchError(ctx context.Context, r *cache.Reflector, err error) {
	if !a.reported(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}

// fixes are what somebody who reads the log line can do.
var fixes = map[string]string{
	Forbidden:    "grant list and watch on it, or leave it out of resources in the configuration file",
	Unauthorized: "renew the credentials",
	Missing:      "install its CustomResourceDefinition, or correct its name, version or scope in the configuration file",
	Unsupported:  "leave it out of resources in the configuration file",
}

// answerOf returns what an error of a list or watch request says about the kind: empty if nothing.
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
