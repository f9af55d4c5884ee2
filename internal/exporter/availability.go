package exporter

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Answers of the API server about a kind. Only these, and never trouble on the way to it, decide on
// informer_exporter_kind_up: a server that cannot be reached says nothing about permissions.
const (
	answerPending      = "pending" // no answer yet
	answerUp           = "up"
	answerForbidden    = "forbidden"
	answerUnauthorized = "unauthorized"
	answerMissing      = "missing"
	answerUnsupported  = "unsupported"
)

// availability follows whether one kind in one scope can be listed and watched. It sees the result of each request, as
// SetWatchErrorHandler does not: that one is not told of successes.
//
// A watch that opens is the proof. A list that succeeds is not: it is followed by a watch, which may still be refused.
type availability struct {
	log     *slog.Logger  // with the kind and the scope
	refusal chan struct{} // closed by the first refusal
	missing func()        // unless nil, called when the kind turns out to be missing
	unasked func()        // called when the API server sends objects that were not asked for

	mu        sync.Mutex
	answer    string
	refused   bool  // has ever been refused
	troubled  bool  // the last request got no answer about the kind
	lastError error // of the last request that failed
}

func newAvailability(log *slog.Logger) *availability {
	return &availability{log: log, refusal: make(chan struct{}), unasked: func() {}, answer: answerPending}
}

// up tells whether the API server's last answer was that the kind can be listed and watched.
func (a *availability) up() bool { return a.current().answer == answerUp }

type snapshot struct {
	answer   string
	refused  bool
	troubled bool
}

func (s snapshot) refusing() bool { return s.answer != answerUp && s.answer != answerPending }

func (a *availability) current() snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	return snapshot{a.answer, a.refused, a.troubled}
}

// reported tells whether err is, or wraps, the last error that a request returned, so that it has been dealt with.
func (a *availability) reported(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lastError != nil && errors.Is(err, a.lastError)
}

// listed is told the result of each list request.
func (a *availability) listed(ctx context.Context, err error) {
	if err != nil {
		a.failed(ctx, err)
	}
}

// watched is told whether a watch could be opened.
func (a *availability) watched(ctx context.Context, options metav1.ListOptions, err error) {
	switch {
	case err == nil:
		a.opened()
	case options.SendInitialEvents != nil && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)):
		// The server does not know streaming lists; client-go now lists, and only that list's result counts.
		a.log.Debug("The API server does not stream lists of the resource", "err", err)
	default:
		a.failed(ctx, err)
	}
}

func (a *availability) opened() {
	a.mu.Lock()
	before, troubled := a.answer, a.troubled
	a.answer, a.troubled, a.lastError = answerUp, false, nil
	a.mu.Unlock()

	switch {
	case before != answerUp && before != answerPending:
		a.log.Info("The resource can be watched now", "before", before)
	case troubled:
		a.log.Info("The API server answers again for the resource")
	}
}

func (a *availability) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // Stop has cut the request off.
	}
	answer := answerOf(err)
	// Routine: the server no longer has the events since the last known version, and a list follows.
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)

	a.mu.Lock()
	before, troubled := a.answer, a.troubled
	a.lastError = err
	switch {
	case answer != "":
		a.answer, a.troubled = answer, false
		if !a.refused {
			a.refused = true
			close(a.refusal)
		}
	case !expired:
		a.troubled = true
	}
	a.mu.Unlock()

	if answer == answerMissing && before != answer && a.missing != nil {
		a.missing()
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

// fixes are what somebody who reads the log line can do.
var fixes = map[string]string{
	answerForbidden:    "grant list and watch on it, or leave it out of resources in the configuration file",
	answerUnauthorized: "renew the credentials",
	answerMissing:      "install its CustomResourceDefinition, or correct its name, version or scope in the configuration file",
	answerUnsupported:  "leave it out of resources in the configuration file",
}

// answerOf returns what an error of a list or watch request says about the kind: empty if nothing.
func answerOf(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return answerForbidden
	case apierrors.IsUnauthorized(err):
		return answerUnauthorized
	case apierrors.IsNotFound(err):
		return answerMissing
	case apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return answerUnsupported
	}
	return ""
}
