package leader_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fakeLease is a Lease in memory. It can only be updated by a candidate that has read its last version.
type fakeLease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord // nil if it does not exist
	version int
}

// fakeLock is the lock of one candidate on a fakeLease.
type fakeLock struct {
	*fakeLease
	identity string
	seen     int
	// err, if not nil, is returned by requests, which take effect nevertheless if written is set. takes is their duration.
	err     error
	written bool
	takes   time.Duration
	events  []string
}

var (
	leases      = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	errNetwork  = errors.New("network")
	errConflict = apierrors.NewConflict(leases, "l", errors.New("changed"))
	errNotFound = apierrors.NewNotFound(leases, "l")
)

func (l *fakeLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.travel(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return nil, nil, errNotFound
	}
	l.seen = l.version
	record := *l.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *fakeLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, func() bool { return l.record == nil })
}

func (l *fakeLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, func() bool { return l.record != nil && l.seen == l.version })
}

func (l *fakeLock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, may func() bool) error {
	err := l.travel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && !l.written {
		return err
	}
	if !may() {
		return errConflict
	}
	l.record = &record
	l.version++
	if err == nil {
		l.seen = l.version
	}
	return err
}

// travel waits for the duration of a request.
func (l *fakeLock) travel(ctx context.Context) error {
	l.mu.Lock()
	takes, err := l.takes, l.err
	l.mu.Unlock()
	select {
	case <-time.After(takes):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *fakeLock) RecordEvent(event string) { l.events = append(l.events, event) }
func (l *fakeLock) Identity() string         { return l.identity }
func (l *fakeLock) Describe() string         { return "a lease in memory" }

// held returns a record with the given holder.
func held(by string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: by, LeaseDurationSeconds: 15}
}
