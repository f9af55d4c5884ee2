package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// Errors of checks that were not possible this time, as opposed to checks that failed.
var (
	// ErrNoVersion means that the store has no resourceVersion, or one that is not a number: client-go's feature AtomicFIFO is
	// off, a transform removes resourceVersions, or an aggregated API server has resourceVersions of another form.
	ErrNoVersion = errors.New("the store has no resourceVersion")
	// ErrChanging means that the store changed during each attempt to read it.
	ErrChanging = errors.New("the store changes faster than it can be read")
	// ErrNotExact means that the API server returned a list at a version other than the requested one.
	ErrNotExact = errors.New("the API server does not list at an exact resourceVersion")
)

// Skipped reports whether an error means that a check was not possible this time: one of those above, or 410 Gone, because
// the API server no longer has the version.
func Skipped(err error) bool {
	return errors.Is(err, ErrNoVersion) || errors.Is(err, ErrChanging) || errors.Is(err, ErrNotExact) ||
		apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// errClosedEarly means that a watch ended before its timeout.
var errClosedEarly = errors.New("the watch ended before its timeout")

// MaxChanges is the number of changes that one freshness check reads. The next check reads the changes after them.
const MaxChanges = 256

// Watcher opens a watch, as cache.WatcherWithContext does.
type Watcher func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// Change is a change that the API server has sent.
type Change struct {
	// Version is the resourceVersion of the changed object.
	Version uint64
	// At is when it was received.
	At time.Time
}

// Changes returns the changes after a version, up to MaxChanges, from a watch with the given timeout in whole seconds. It
// costs one request and the traffic of the changes, regardless of the number of objects.
//
// An error means that the changes are unknown: the watch could not be opened, broke, or was not ended by the server at its
// timeout. ctx must not end before that timeout. If Skipped reports true for an error, the server cannot list the changes.
func Changes(ctx context.Context, open Watcher, version string, timeout time.Duration) ([]Change, error) {
	if _, ok := rv.Parse(version); !ok {
		return nil, ErrNoVersion
	}
	seconds := int64(timeout / time.Second)
	begin := time.Now()
	w, err := open(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	var changes []Change
	for len(changes) < MaxChanges {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("watch not ended by the API server: %w", context.Cause(ctx))
		case event, ok := <-w.ResultChan():
			if !ok {
				if ctx.Err() == nil && time.Since(begin) >= timeout {
					return changes, nil
				}
				return nil, errClosedEarly
			}
			if event.Type == watch.Error {
				return nil, apierrors.FromObject(event.Object)
			}
			if event.Type == watch.Bookmark {
				continue
			}
			object, err := meta.Accessor(event.Object)
			if err != nil {
				return nil, err
			}
			version, ok := rv.Parse(object.GetResourceVersion())
			if !ok {
				return nil, ErrNoVersion
			}
			changes = append(changes, Change{version, time.Now()})
		}
	}
	return changes, nil
}

// Backlog holds the changes that a freshness check has received and the store lacked.
type Backlog struct {
	changes []Change
}

// Replace replaces the backlog with the changes of a new check. A change that was in the backlog keeps its age. Each check
// starts at the version of the store, and therefore receives all changes that the store still lacks.
func (b *Backlog) Replace(changes []Change) {
	since := make(map[uint64]time.Time, len(b.changes))
	for _, c := range b.changes {
		since[c.Version] = c.At
	}
	b.changes = slices.Clone(changes)
	for i, c := range b.changes {
		if at, known := since[c.Version]; known {
			b.changes[i].At = at
		}
	}
}

// Len returns the number of changes.
func (b *Backlog) Len() int { return len(b.changes) }

// Stored removes the changes that a store at the given version has: a store receives changes in the order of their versions.
// A version that is not a number has no effect.
func (b *Backlog) Stored(version string) {
	if n, ok := rv.Parse(version); ok {
		b.changes = slices.DeleteFunc(b.changes, func(c Change) bool { return c.Version <= n })
	}
}

// Oldest returns when the oldest change was first received, and false if the backlog is empty.
func (b *Backlog) Oldest() (time.Time, bool) {
	if len(b.changes) == 0 {
		return time.Time{}, false
	}
	return slices.MinFunc(b.changes, func(a, b Change) int { return a.At.Compare(b.At) }).At, true
}
