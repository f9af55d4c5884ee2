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

// leaseLock logs once when the Lease becomes unusable, and why.
type leaseLock struct {
	resourcelock.Interface
	log *slog.Logger

	mu      sync.Mutex
	failure failure
	holder  string // seen by the last Get
}

// failure is the reason why the Lease is unusable: the verb of the failed request and the response of the API server, or
// unreachable.
type failure struct{ verb, answer string }

const noLeaseAnswer = "unreachable"

func newLeaseLock(inner resourcelock.Interface, log *slog.Logger) *leaseLock {
	return &leaseLock{Interface: inner, log: log}
}

// Get implements resourcelock.Interface.
func (l *leaseLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) {
		l.took("get", nil) // created next
	} else {
		l.took("get", err)
	}
	if err == nil {
		l.took("create", nil) // nothing left to create
		l.mu.Lock()
		l.holder = record.HolderIdentity
		l.mu.Unlock()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Create(ctx, record)
	if !apierrors.IsAlreadyExists(err) { // AlreadyExists: another candidate created the Lease first
		l.took("create", err)
	}
	return err
}

var errHeldByAnother = errors.New("the Lease is held by another candidate")

// Update implements resourcelock.Interface.
func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	holder := l.holder
	l.mu.Unlock()
	if record.HolderIdentity == "" && holder != l.Identity() {
		// After a failed renewal, client-go releases the Lease without checking its current holder.
		return errHeldByAnother
	}
	err := l.Interface.Update(ctx, record)
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // Conflict or NotFound: another client changed or deleted the Lease
		l.took("update", err)
	}
	return err
}

// leaseFixes are the remedies in log messages.
var leaseFixes = map[string]string{
	availability.Forbidden:    "grant get, create and update on leases in this namespace, as deploy/kustomize/high-availability/role.yaml does; if the role has resourceNames, they must include this Lease",
	availability.Unauthorized: "renew the credentials",
	availability.Missing:      "create the namespace, or name another one with --leader-elect.lease-namespace",
}

// took records the result of a request.
func (l *leaseLock) took(verb string, err error) {
	if errors.Is(err, context.Canceled) {
		return // the exporter is stopping
	}
	now := failure{verb, noLeaseAnswer}
	if answer := availability.Classify(err); answer != "" {
		now.answer = answer
	}
	l.mu.Lock()
	before := l.failure
	switch {
	case err == nil && before.verb != verb && before.answer != noLeaseAnswer && verb != "update":
		now = before // an allowed verb does not imply another, except update, which follows all others
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
		l.log.Info("Lease is usable again", "before", before.answer)
	case now.answer == noLeaseAnswer:
		l.log.Warn("Lease is unreachable; retrying", "err", err)
	default:
		l.log.Warn("Lease is unusable; audits stay paused", "verb", verb, "reason", now.answer, "fix", leaseFixes[now.answer], "err", err)
	}
}
