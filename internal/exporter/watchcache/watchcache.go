// Package watchcache finds an API server that etcd no longer feeds: its connection to etcd answers reads, but delivers no events, and
// it serves the state of that moment to every watch and to most lists (kubernetes/kubernetes#97294). Audits and freshness checks read
// the same cache, and find nothing.
//
// A list without a version returns etcd's. A list that must not be older than that version is answered from the cache, once the
// cache has it; a healthy API server asks etcd for its progress, so this takes moments even if nothing changes. Both list a single
// object's metadata.
package watchcache

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Interval is the time between two checks, which send two requests at most.
const Interval = time.Minute

// Scope is a resource in a namespace, or in all of them.
type Scope struct {
	Resource  schema.GroupVersionResource
	Namespace string // empty: all namespaces
}

// ListVersion lists one object of a resource, in a namespace unless that is empty, and returns the version of the list, which is not
// older than a version unless that is empty.
type ListVersion func(ctx context.Context, resource schema.GroupVersionResource, namespace, notOlderThan string) (string, error)

// Checker checks one scope after the other. It is safe for concurrent use.
type Checker struct {
	list   ListVersion
	scopes func() []Scope
	log    *slog.Logger

	checking sync.Mutex
	next     int
	pending  *finding

	since atomic.Pointer[time.Time] // nil while the cache has what etcd has
}

// finding is a version that etcd had and the cache lacked.
type finding struct {
	scope   Scope
	version string
}

// New returns a Checker. scopes returns what can be listed now.
func New(list ListVersion, scopes func() []Scope, log *slog.Logger) *Checker {
	return &Checker{list: list, scopes: scopes, log: log}
}

// Run checks until ctx ends.
func (c *Checker) Run(ctx context.Context) {
	wait.JitterUntilWithContext(ctx, c.Check, Interval, .1, true)
}

// Stale returns for how long the watch cache has lacked a version that etcd has, or 0.
func (c *Checker) Stale() time.Duration {
	if since := c.since.Load(); since != nil {
		return time.Since(*since)
	}
	return 0
}

// Check checks the next scope, or again the one that was stale. An error other than a stale cache proves nothing: the resource may
// be forbidden or gone, the token expired, the API server unreachable.
func (c *Checker) Check(ctx context.Context) {
	c.checking.Lock()
	defer c.checking.Unlock()
	if c.pending == nil {
		scopes := c.scopes()
		if len(scopes) == 0 {
			return
		}
		c.next = (c.next + 1) % len(scopes)
		version, err := c.list(ctx, scopes[c.next].Resource, scopes[c.next].Namespace, "")
		if err != nil || version == "" {
			c.log.Debug("check of the watch cache is not possible", "resource", scopes[c.next].Resource.GroupResource(), "err", err)
			return
		}
		c.pending = &finding{scopes[c.next], version}
	}
	resource := c.pending.scope.Resource.GroupResource()
	_, err := c.list(ctx, c.pending.scope.Resource, c.pending.scope.Namespace, c.pending.version)
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		if c.since.Load() == nil {
			now := time.Now()
			c.since.Store(&now)
			c.log.Warn("the API server's watch cache lacks a version that etcd has", "resource", resource, "version", c.pending.version)
		}
		return
	}
	if err != nil {
		c.log.Debug("check of the watch cache is not possible", "resource", resource, "err", err)
	} else if c.since.Load() != nil {
		c.log.Info("the API server's watch cache has the version", "resource", resource, "version", c.pending.version)
	}
	c.since.Store(nil)
	c.pending = nil
}
