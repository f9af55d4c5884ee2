package election

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
)

// leaseLock is the lock of a candidate. It tells in the log when the Lease cannot be used, and why, once.
type leaseLock struct {
	resourcelock.Interface
	log *slog.Logger

	mu      sync.Mutex
	failure failure
	holder  string // at the last Get
}

// leaseTrouble is why the Lease cannot be used: the request that was refused and how, or without an answer if the API
// server gave none.
type failure struct{ verb, answer string }

const noLeaseAnswer = "unreachable"

func newLeaseLock(inner resourcelock.Interface, log *slog.Logger) *leaseLock {
	return &leaseLock{Interface: inner, log: log}
}

// Get implements resourcelock.Interface.
func (l *leaseLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) {
		l.took("get", nil) // it is created then
	} else {
		l.took("get", err)
	}
	if err == nil {
		l.took("create", nil) // there is nothing to create any more
		l.mu.Lock()
		l.holder = record.HolderIdentity
		l.mu.Unlock()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Create(ctx, record)
	if !apierrors.IsAlreadyExists(err) { // another one was faster
		l.took("create", err)
	}
	return err
}

var errHeldByAnother = errors.New("another candidate holds the Lease")

// Update implements resourcelock.Interface.
func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	holder := l.holder
	l.mu.Unlock()
	if record.HolderIdentity == "" && holder != l.Identity() {
		// client-go's elector releases without a look at whose the Lease is by now, after it could not renew its own.
		return errHeldByAnother
	}
	err := l.Interface.Update(ctx, record)
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // somebody was faster, or has deleted it
		l.took("update", err)
	}
	return err
}

// leaseFixes are what somebody who reads the log line can do.
var leaseFixes = map[string]string{
	availability.Forbidden:    "grant get, create and update on leases in this namespace, as deploy/kustomize/high-availability/role.yaml does; if it names a Lease, that must be this one",
	availability.Unauthorized: "renew the credentials",
	availability.Missing:      "create the namespace, or name another one with --leader-elect.lease-namespace",
}

// took takes note of what came of a request.
func (l *leaseLock) took(verb string, err error) {
	if errors.Is(err, context.Canceled) {
		return // the end of the exporter has cut the request off
	}
	now := failure{verb, noLeaseAnswer}
	if answer := availability.Classify(err); answer != "" {
		now.answer = answer
	}
	l.mu.Lock()
	before := l.failure
	switch {
	case err == nil && before.verb != verb && before.answer != noLeaseAnswer && verb != "update":
		now = before // that one request is allowed says nothing about another one, unless it is what all others are for
	case err == nil:
		now = failure{}
	case now.answer == noLeaseAnswer && before != failure{}:
		now = before
	}
	l.failure = now
	l.mu.Unlock()
	switch {
	case now == before:
	case now == failure{}:
		l.log.Info("The Lease can be used now", "before", before.answer)
	case now.answer == noLeaseAnswer:
		l.log.Warn("The Lease cannot be used at the moment; trying on", "err", err)
	default:
		l.log.Warn("The Lease cannot be used; there are no audits here until it can", "verb", verb, "reason", now.answer, "fix", leaseFixes[now.answer], "err", err)
	}
}
