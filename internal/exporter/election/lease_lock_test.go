package election

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// answering is a lock that returns its fields as the results of requests.
type answering struct {
	resourcelock.Interface
	get, create, update error
}

func (a *answering) Identity() string { return "this" }

func (a *answering) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{}, nil, a.get
}

func (a *answering) Create(context.Context, resourcelock.LeaderElectionRecord) error { return a.create }

func (a *answering) Update(context.Context, resourcelock.LeaderElectionRecord) error { return a.update }

// A failure is over when its request succeeds, or when another request shows that it no longer matters.
func TestLeaseTroubleEnds(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	missing, refused := apierrors.NewNotFound(leases, "exporter"), apierrors.NewForbidden(leases, "exporter", errors.New("no rule"))
	get := func(l *leaseLock) { _, _, _ = l.Get(t.Context()) }
	create := func(l *leaseLock) {
		_ = l.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "this"})
	}
	update := func(l *leaseLock) {
		_ = l.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "this"})
	}
	for name, tc := range map[string]struct {
		before  answering
		trouble func(*leaseLock)
		after   answering
		request func(*leaseLock)
		over    bool
	}{
		"another one has created it":   {answering{create: refused}, create, answering{create: refused}, get, true},
		"there is still none":          {answering{create: refused}, create, answering{get: missing}, get, false},
		"it is read, but not written":  {answering{update: refused}, update, answering{update: refused}, get, false},
		"it is written":                {answering{update: refused}, update, answering{}, update, true},
		"it is written without a look": {answering{get: refused}, get, answering{get: refused}, update, true},
	} {
		t.Run(name, func(t *testing.T) {
			var written logtest.Recorder
			now := tc.before
			l := newLeaseLock(&now, written.Logger())
			tc.trouble(l)
			if lines := written.Find("Lease is unusable", "reason", availability.Forbidden); len(lines) != 1 {
				t.Fatalf("%v, want one line about a refusal", written.Find(""))
			}
			now = tc.after
			for range 2 {
				tc.request(l)
			}
			if lines := written.Find("Lease is usable again"); (len(lines) == 1) != tc.over || len(lines) > 1 {
				t.Errorf("over is %t, want %t", !tc.over, tc.over)
			}
		})
	}
}

// A failure is logged once, with its request, reason and remedy. An unreachable server neither hides a rejection nor counts as one.
func TestLeaseTroubleIsLogged(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	refused, unreachable := apierrors.NewForbidden(leases, "exporter", errors.New("no rule")), errors.New("connection refused")
	var written logtest.Recorder
	now := answering{get: unreachable}
	l := newLeaseLock(&now, written.Logger())
	lines := 0
	step := func(what string, err error, message string, attrs ...string) {
		t.Helper()
		now.get = err
		for range 2 {
			_, _, _ = l.Get(t.Context())
		}
		if message != "" {
			lines++
		}
		if all := written.Find(""); len(all) != lines || message != "" && len(written.Find(message, attrs...)) == 0 {
			t.Errorf("%s: %v, want %d lines, the last one with %q %q", what, all, lines, message, attrs)
		}
	}
	step("unreachable", unreachable, "Lease is unreachable; retrying", "err", "connection refused")
	step("stopping", context.Canceled, "")
	step("refused", refused, "Lease is unusable; audits stay paused", "verb", "get", "reason", availability.Forbidden, "fix", leaseFixes[availability.Forbidden], "err", refused.Error())
	step("unreachable and still refused", unreachable, "")
	step("usable", nil, "Lease is usable again", "before", availability.Forbidden)
	step("unauthorized", apierrors.NewUnauthorized("who?"), "Lease is unusable; audits stay paused", "reason", availability.Unauthorized, "fix", leaseFixes[availability.Unauthorized])
}

// Errors caused by concurrent requests of other candidates are not failures.
func TestLeaseOfAnotherCandidate(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	var written logtest.Recorder
	now := answering{
		get: apierrors.NewNotFound(leases, "exporter"), create: apierrors.NewAlreadyExists(leases, "exporter"), update: apierrors.NewConflict(leases, "exporter", errors.New("newer")),
	}
	l := newLeaseLock(&now, written.Logger())
	record := resourcelock.LeaderElectionRecord{HolderIdentity: "this"}
	if _, _, err := l.Get(t.Context()); !errors.Is(err, now.get) {
		t.Errorf("get: %v", err)
	}
	if err := l.Create(t.Context(), record); !errors.Is(err, now.create) {
		t.Errorf("create: %v", err)
	}
	if err := l.Update(t.Context(), record); !errors.Is(err, now.update) {
		t.Errorf("update: %v", err)
	}
	if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, errHeldByAnother) {
		t.Errorf("release of a Lease that was never seen: %v", err)
	}
	if lines := written.Find(""); len(lines) != 0 {
		t.Errorf("logged: %v", lines)
	}
}
