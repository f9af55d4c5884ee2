package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// Errors that are no failure: nothing could be said about the cache this time.
var (
	// ErrNoVersion tells that the store does not know its resourceVersion, or that it is no number: client-go's feature
	// AtomicFIFO is off, a Transform strips resourceVersions, or an aggregated API server uses its own.
	ErrNoVersion = errors.New("the store does not know its resourceVersion")
	// ErrChanging tells that the store changed each time that it was read.
	ErrChanging = errors.New("the store changes faster than it can be read")
	// ErrNotExact tells that the API server answered with another version than it was asked for.
	ErrNotExact = errors.New("the API server does not list at an exact resourceVersion")
)

// Skipped tells whether an error of this package means that nothing could be said this time: one of those above, or
// that the API server no longer has the version (410).
func Skipped(err error) bool {
	return errors.Is(err, ErrNoVersion) || errors.Is(err, ErrChanging) || errors.Is(err, ErrNotExact) ||
		apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// errNoEnd tells that a watch ended before the API server had reason to end it.
var errNoEnd = errors.New("the watch ended before its time")

// MaxChanges is how many changes a freshness check looks at. What follows them is looked at by the next one.
const MaxChanges = 256

// Watcher opens a watch, as cache.WatcherWithContext does.
type Watcher func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// Change is a change that the API server has sent.
type Change struct {
	// Version is the resourceVersion of the object after it.
	Version uint64
	// At is when it was received.
	At time.Time
}

// Changes returns what the API server sends about the time after a version, up to MaxChanges changes, on a watch of the
// given length in whole seconds. It takes one request, that long or until MaxChanges were received, and as much traffic
// as there are changes, however many objects there are.
//
// An error means that the API server did not answer to the end: the watch could not be opened, broke, or was not ended
// by the server in its time. ctx must end later than that. An error for which Skipped is true means that the server
// cannot tell.
func Changes(ctx context.Context, open Watcher, version string, length time.Duration) ([]Change, error) {
	if _, ok := rv.Parse(version); !ok {
		return nil, ErrNoVersion
	}
	timeout := int64(length / time.Second)
	begin := time.Now()
	w, err := open(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &timeout})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	var changes []Change
	for len(changes) < MaxChanges {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer: %w", context.Cause(ctx))
		case event, ok := <-w.ResultChan():
			if !ok {
				if ctx.Err() == nil && time.Since(begin) >= length {
					return changes, nil
				}
				return nil, errNoEnd
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

// Backlog are changes that the API server has sent to a freshness check and that the store did not have.
type Backlog struct {
	changes []Change
}

// Replace takes in what a new check has seen. A change that was in the backlog before keeps its age. What is not among
// the new changes is forgotten: each check begins where the store is, so that it sees again what the store lacks.
func (b *Backlog) Replace(changes []Change) {
	since := make(map[uint64]time.Time, len(b.changes))
	for _, c := range b.changes {
		since[c.Version] = c.At
	}
	fresh := make([]Change, 0, len(changes))
	for _, c := range changes {
		if at, known := since[c.Version]; known {
			c.At = at
		}
		fresh = append(fresh, c)
	}
	b.changes = fresh
}

// Len returns how many changes the store is believed to lack.
func (b *Backlog) Len() int { return len(b.changes) }

// Stored forgets the changes that a store at the given version has: a store takes in changes in the order of their
// versions. A version that is no number changes nothing.
func (b *Backlog) Stored(version string) {
	n, ok := rv.Parse(version)
	if !ok {
		return
	}
	left := b.changes[:0]
	for _, c := range b.changes {
		if c.Version > n {
			left = append(left, c)
		}
	}
	b.changes = left
}

// Oldest returns when the oldest of the changes was seen first, false if there is none.
func (b *Backlog) Oldest() (time.Time, bool) {
	var oldest time.Time
	for _, c := range b.changes {
		if oldest.IsZero() || c.At.Before(oldest) {
			oldest = c.At
		}
	}
	return oldest, !oldest.IsZero()
}
